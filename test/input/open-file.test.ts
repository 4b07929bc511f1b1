import {expect, it} from 'vitest';
import {withoutEndMark} from '../../src/input/open-file.ts';
import {readBytes} from './reading.ts';

const END = '\u001a';

async function without(...chunks: readonly string[]): Promise<string> {
  async function* given() {
    for (const chunk of chunks) yield Buffer.from(chunk);
  }
  const parts: Buffer[] = [];
  for await (const chunk of withoutEndMark(given())) parts.push(chunk);
  return Buffer.concat(parts).toString();
}

it('takes the marks at the end off, however they come', async () => {
  expect(await without(`a,b\n${END}`)).toBe('a,b\n');
  expect(await without(`a,b\n${END}`, END, `${END}${END}`)).toBe('a,b\n');
  expect(await without('a,b\n', END)).toBe('a,b\n');
  expect(await without(END)).toBe('');
});

it('leaves those within the text', async () => {
  expect(await without(`a${END}`, `${END}b`, END)).toBe(`a${END}${END}b`);
});

it.each([1, 3, 65_536])('is no row: chunks of %i bytes', async chunk => {
  const {records} = await readBytes(`a,b\r\n1,2\r\n${END}`, {}, chunk);
  expect(records).toMatchObject([{fields: ['1', '2']}]);
});

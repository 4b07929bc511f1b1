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

it('rows in two encodings are told as that: each line that is UTF-8 is a row, and no encoding is advised', async () => {
  const row = (name: string, encoding: BufferEncoding) => Buffer.from(`${name},a@example.com\n`, encoding);
  const rows = [row('Müller', 'latin1'), row('Müller', 'utf8'), row('Jürgen', 'latin1')];
  const {records, notes, format} = await readBytes(Buffer.concat([Buffer.from('name,email\n'), ...rows]));
  expect(records).toMatchObject([
    {reason: 'invalid_encoding', detail: expect.stringContaining('two encodings')},
    {fields: ['Müller', 'a@example.com']},
    {reason: 'invalid_encoding'},
  ]);
  expect(notes).toEqual([expect.stringMatching(/has rows in two encodings.*No --encoding fits both/)]);
  expect(format.perhaps).toBeUndefined();
});

it('a row that is not UTF-8 behind many that are is no reason to read them all in another encoding', async () => {
  const text = `name,email\n${'Müller,a@example.com\n'.repeat(5_000)}`;
  const {records} = await readBytes(Buffer.concat([Buffer.from(text), Buffer.from('Jürgen,b\n', 'latin1')]));
  expect(records.at(-1)).toMatchObject({
    reason: 'invalid_encoding',
    detail: expect.not.stringContaining('--encoding'),
  });
});

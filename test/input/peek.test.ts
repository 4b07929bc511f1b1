import {expect, it} from 'vitest';
import {peek} from '../../src/input/bytes/peek.ts';

async function* chunked(text: string, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < text.length; at += size) yield Buffer.from(text.slice(at, at + size));
}

it.each([1, 3, 4, 100])('shows the same head and gives all back, in chunks of %i', async size => {
  const {head, chunks} = await peek(chunked('abcdefghij', size), 4);
  expect(head.toString()).toBe('abcd');
  const all: Buffer[] = [];
  for await (const chunk of chunks) all.push(chunk);
  expect(Buffer.concat(all).toString()).toBe('abcdefghij');
});

it('shows all of a short file', async () => {
  expect((await peek(chunked('ab', 1), 4)).head.toString()).toBe('ab');
  expect((await peek(chunked('', 1), 4)).head).toHaveLength(0);
});

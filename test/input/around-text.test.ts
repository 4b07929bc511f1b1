import {expect, it} from 'vitest';
import {fieldsOf, readBytes} from './reading.ts';

const nuls = (count: number) => '\0'.repeat(count);
const END = '\u001a';
const row = '192.0.2.1\n';

it.each([
  ['at the end', `ip\n${row}${nuls(5)}`, '0 in front and 5 at the end'],
  ['at the end of much', `ip\n${row}${nuls(200_000)}`, '0 in front and 200000 at the end'],
  ['in front', `${nuls(9)}ip\n${row}`, '9 in front and 0 at the end'],
  ['in front, and much', `${nuls(100_000)}ip\n${row}${nuls(3)}`, '100000 in front and 3 at the end'],
])('NUL bytes %s are left out, and told', async (_, text, told) => {
  const {records, notes} = await readBytes(text, {}, 7);
  expect(fieldsOf(records)).toEqual([['192.0.2.1']]);
  const note = `with NUL bytes, as after a power cut: ${told} are left out.`;
  expect(notes).toEqual([expect.stringContaining(note)]);
});

it.each([1, 3, 64])(
  'marks of DOS at the end are left out, and those within the text stay (chunks of %i)',
  async size => {
    const {records} = await readBytes(`a,b\n1${END}${END},2\n${END}${END}`, {}, size);
    expect(fieldsOf(records)).toEqual([[`1${END}${END}`, '2']]);
  },
);

it('rows in two encodings are told as that: each line that is UTF-8 is a row, and no encoding is advised', async () => {
  const rowOf = (name: string, encoding: BufferEncoding) => Buffer.from(`${name},a@example.com\n`, encoding);
  const rows = [rowOf('Müller', 'latin1'), rowOf('Müller', 'utf8'), rowOf('Jürgen', 'latin1')];
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
  const detail = expect.not.stringContaining('--encoding');
  expect(records.at(-1)).toMatchObject({reason: 'invalid_encoding', detail});
});

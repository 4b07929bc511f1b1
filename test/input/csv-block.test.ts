import {expect, test} from 'vitest';
import {recordsOf} from '../../src/input/records/csv-block.ts';

const options = {relax_column_count: true, skip_empty_lines: true, record_delimiter: ['\r\n', '\n']};
const read = (text: string) => recordsOf(Buffer.from(text), options, 2, 0x0a);

test('a block of plain records is read at once, and says how many lines each has', () => {
  expect(read('a,b\nc,"d, ""e"""\r\nf,g')).toEqual([
    {fields: ['a', 'b'], lines: 1},
    {fields: ['c', 'd, "e"'], lines: 1},
    {fields: ['f', 'g'], lines: 1},
  ]);
  expect(read('a,"b\n\nc"\n"d\r\n",e\nf,g\n')?.map(({lines}) => lines)).toEqual([3, 2, 1]);
});

test.each([
  ['a blank line', 'a,b\n\nc,d\n'],
  ['a blank line beside a record of two lines', 'a,"b\n"\n\nc,d\n'],
  ['another number of fields', 'a,b\nc\n'],
  ['a quote inside of a field', 'a,b"c\n'],
  ['a record that goes on behind it', 'a,b\nc,"d\n'],
])('%s is for reading one by one', (_, text) => {
  expect(read(text)).toBeUndefined();
});

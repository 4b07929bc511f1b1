import {stringify} from 'csv-stringify/sync';
import fc from 'fast-check';
import {expect, test} from 'vitest';
import {createCsvLine, csvTable} from '../../src/output/csv-line.ts';
import {samples} from '../support/samples.ts';

const cell = fc.oneof(
  fc.string({maxLength: 6}),
  fc.constantFrom('', '"', 'a"b', ',', 'a|', ';', '\t', '\r', '\n', 'a\r\nb', ' ', '-1', "'=1", '"a"', 'é,☃'),
);

test.each([
  [',', '\n'],
  [';', '\r\n'],
  ['\t', '\r'],
  ['a', '\n'],
])('the text of a CSV record is what csv-stringify makes of the whole, with %j and %j', (delimiter, eol) => {
  const options = {delimiter, record_delimiter: eol, quoted_match: /[\r\n]/};
  fc.assert(
    fc.property(fc.array(cell, {minLength: 1, maxLength: 5}), cells => {
      expect(createCsvLine(delimiter)(cells) + eol).toBe(stringify([cells], options));
    }),
    {seed: 11, numRuns: samples(300)},
  );
});

test('a small table has numbers, flags and nothing as they are, and no text that a spreadsheet runs', () => {
  expect(csvTable(['a', 'b', 'c', 'd'], [['=1', -2, null, true]])).toBe("a,b,c,d\n'=1,-2,,true\n");
});

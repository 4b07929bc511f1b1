import {stringify} from 'csv-stringify/sync';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {csvTexts} from '../../src/output/csv-text.ts';

const cell = fc.oneof(
  fc.string({maxLength: 6}),
  fc.constantFrom('', '"', 'a"b', ',', 'a|', ';', '\t', '\r', '\n', 'a\r\nb', ' ', '-1', "'=1", '"a"', 'é,☃'),
);

describe('the texts of CSV records', () => {
  test.each([
    [',', '\n'],
    [';', '\r\n'],
    ['\t', '\r'],
    ['a', '\n'],
    ['||', '\n'],
  ])('are those of csv-stringify, with %j and %j', (delimiter, eol) => {
    const options = {delimiter, record_delimiter: eol, quoted_match: /[\r\n]/};
    const texts = csvTexts(options);
    fc.assert(
      fc.property(fc.array(fc.array(cell, {minLength: 1, maxLength: 5}), {maxLength: 6}), records => {
        const written = texts(records).map(text => text + eol);
        expect(written).toEqual(records.map(cells => stringify([cells], options)));
      }),
      {seed: 11, numRuns: 300},
    );
  });
});

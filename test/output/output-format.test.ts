import {expect, test} from 'vitest';
import type {InputFormat} from '../../src/input/row.ts';
import type {Job} from '../../src/job/job.ts';
import {flattenedInputFormat, outputFormat} from '../../src/run/layout/layout.ts';
import {ndjsonRow} from '../lookup/rows.ts';
import {whole} from '../support/whole.ts';
import {csvInput, ndjsonInput, output} from './formats.ts';

const excel = {...csvInput(['ip']), delimiter: ';', eol: '\r\n', bom: true, sepLine: true} as const;
const old = {...csvInput(['ip']), encoding: 'windows-1252'};
const wide = {...csvInput(['ip']), encoding: 'utf-16le'};
const tabs = {...csvInput(['ip']), delimiter: '\t'};
const mac = csvInput(['ip'], {eol: '\r'});
const json = ndjsonInput(['ip']);

type Said = Partial<Job['settings']>;
type Source = Parameters<typeof outputFormat>[1];

const formatOf = (said: Said, format: InputFormat = csvInput(['ip'])) => {
  const settings = {escapeFormulas: 'answers', score: 'default', flatten: false, ...said} as const;
  return outputFormat(whole<Job>({settings}), {format} as Source);
};

test.each<[string, InputFormat, Said, string]>([
  ['CSV stays as it is', csvInput(['ip']), {}, 'csv , LF'],
  ['Excel’s stays as it is', excel, {}, 'csv ; CRLF bom sep='],
  ['a mark in front is no JSON', excel, {outputFormat: 'ndjson'}, 'ndjson CRLF'],
  ['nor is a lone CR, which ends no line of JSON', mac, {outputFormat: 'ndjson'}, 'ndjson LF'],
  ['in CSV it is a line end', mac, {}, 'csv , CR'],
  ['the sep line names the new delimiter', excel, {outputFormat: 'tsv'}, 'csv TAB CRLF bom sep='],
  ['a legacy encoding becomes UTF-8 with a mark', old, {}, 'csv , LF bom'],
  ['UTF-16 becomes UTF-8 with a mark', wide, {}, 'csv , LF bom'],
  ['JSON needs no mark', old, {outputFormat: 'ndjson'}, 'ndjson LF'],
  ['the mark is added', csvInput(['ip']), {outputFormat: 'csv-bom'}, 'csv , LF bom'],
  ['and to what was JSON', json, {outputFormat: 'csv-bom'}, 'csv , LF bom'],
  ['with semicolons where they are', excel, {outputFormat: 'csv-bom'}, 'csv ; CRLF bom sep='],
  ['and without tabs', tabs, {outputFormat: 'csv-bom'}, 'csv , LF bom'],
  ['tabs stay', tabs, {}, 'csv TAB LF'],
  ['CSV has no tabs', tabs, {outputFormat: 'csv'}, 'csv , LF'],
  ['CSV keeps its semicolons', excel, {outputFormat: 'csv'}, 'csv ; CRLF bom sep='],
  ['JSON becomes CSV', json, {outputFormat: 'csv'}, 'csv , LF'],
  ['JSON becomes TSV', json, {outputFormat: 'tsv'}, 'csv TAB LF'],
  ['a delimiter that is said counts', json, {outputFormat: 'csv', delimiter: ';'}, 'csv ; LF'],
])('%s', (_, format, said, expected) => {
  const {kind, delimiter, eol, bom, sepLine} = formatOf({score: 'none', ...said}, format);
  const between = kind === 'csv' && delimiter.replace('\t', 'TAB');
  const end = eol.replace('\r', 'CR').replace('\n', 'LF');
  const parts = [kind, between, end, bom && 'bom', sepLine && 'sep='];
  expect(parts.filter(Boolean).join(' ')).toBe(expected);
});

test.each([
  ['none', [false, false]],
  ['answers', [false, true]],
  ['all', [true, true]],
] as const)(
  'formulas are escaped as --escape-formulas %s says, in the list’s own cells and in answers',
  (how, where) => {
    const {escapeInput, escapeAnswers} = formatOf({escapeFormulas: how});
    expect([escapeInput, escapeAnswers]).toEqual(where);
  },
);

test.each<[Said, string]>([
  [{}, 'score level reasons points missing repairs'],
  [{score: 'none'}, 'repairs'],
  [{fields: ['ip.city']}, 'score level reasons'],
  [{fields: ['input_repairs', 'risk.points']}, 'score level reasons points repairs'],
])('columns beside those of lookups, with %j: %s', (said, expected) => {
  const {risk, repairs} = formatOf(said);
  expect([...risk, ...(repairs ? ['repairs'] : [])].join(' ')).toBe(expected);
});

test('nested fields become columns of CSV alone: NDJSON keeps its rows as they are', () => {
  const sample = [ndjsonRow('{"ip":{"v4":"192.0.2.1"}}')];
  const source = {format: json, sample} as Partial<Source> as Source;
  const columns = (kind: 'csv' | 'ndjson', flatten: boolean) =>
    flattenedInputFormat(source, output({kind, flatten})).columns;
  expect(columns('csv', true)).toEqual(['ip.v4']);
  expect([columns('csv', false), columns('ndjson', true)]).toEqual([['ip'], ['ip']]);
});

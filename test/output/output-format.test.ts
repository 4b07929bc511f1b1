import {expect, test} from 'vitest';
import type {InputFormat} from '../../src/input/row.ts';
import type {Job} from '../../src/job/job.ts';
import {outputFormat} from '../../src/layout/output-format.ts';
import {csvInput, ndjsonInput} from './formats.ts';

const excel = {...csvInput(['ip']), delimiter: ';', eol: '\r\n', bom: true, sepLine: true} as const;
const old = {...csvInput(['ip']), encoding: 'windows-1252'};
const wide = {...csvInput(['ip']), encoding: 'utf-16le'};
const tabs = {...csvInput(['ip']), delimiter: '\t'};
const mac = csvInput(['ip'], {eol: '\r'});
const json = ndjsonInput(['ip']);

type Said = Partial<Job['settings']>;

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
  ['the mark is left out', old, {bom: false}, 'csv , LF'],
  ['the mark is added', json, {bom: true}, 'ndjson LF bom'],
  ['tabs stay', tabs, {}, 'csv TAB LF'],
  ['CSV has no tabs', tabs, {outputFormat: 'csv'}, 'csv , LF'],
  ['CSV keeps its semicolons', excel, {outputFormat: 'csv'}, 'csv ; CRLF bom sep='],
  ['JSON becomes CSV', json, {outputFormat: 'csv'}, 'csv , LF'],
  ['JSON becomes TSV', json, {outputFormat: 'tsv'}, 'csv TAB LF'],
  [
    'a delimiter that is said counts for CSV from JSON',
    json,
    {outputFormat: 'csv', delimiter: ';'},
    'csv ; LF',
  ],
])('%s', (_, format, said, expected) => {
  const job = {
    settings: {escapeFormulas: 'answers', score: 'none', flatten: false, ...said},
  } as unknown as Job;
  const {kind, delimiter, eol, bom, sepLine} = outputFormat(job, {format} as Parameters<
    typeof outputFormat
  >[1]);
  const parts = [
    kind,
    ...(kind === 'csv' ? [delimiter === '\t' ? 'TAB' : delimiter] : []),
    eol.replace('\r', 'CR').replace('\n', 'LF'),
    ...(bom ? ['bom'] : []),
    ...(sepLine ? ['sep='] : []),
  ];
  expect(parts.join(' ')).toBe(expected);
});

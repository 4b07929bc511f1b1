import {describe, expect, test} from 'vitest';
import {planRiskColumns} from '../../src/output/columns.ts';
import {createRowEncoder, flatMembers, listFlatColumns} from '../../src/output/encoder.ts';
import {csvRow, ndjsonRow} from '../lookup/rows.ts';
import {csvInput, enriched, looked, ndjsonInput, ok, output} from './formats.ts';

const city = looked('ip', 'ip', ['city', 'is_vpn', 'latitude']);
const answer = ok({city: 'Berlin', is_vpn: false, unknown: 1});
const invalid = {status: 'invalid', error: 'ip_list'} as const;

describe('the members of a nested object', () => {
  test.each([
    ['{"a":{"b":{"c":1.50}},"d":[{"e":1}]}', {'a.b.c': '1.50', d: '[{"e":1}]'}],
    ['{"n":12345678901234567890,"o":{ },"s":"{x}"}', {n: '12345678901234567890', o: '{ }', s: '"{x}"'}],
    ['{"a.b":1,"a":{"b":2,"b#2":3}}', {'a.b': '1', 'a.b#2': '2', 'a.b#2#2': '3'}],
    ['{}', {}],
  ])('%s', (raw, members) => {
    expect(Object.fromEntries(flatMembers(raw))).toEqual(members);
  });

  test('stay whole below a hundred levels, however deep they go', () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const path = Array(100).fill('a').join('.');
    expect([...flatMembers(deep(100))]).toEqual([[path, '1']]);
    expect([...flatMembers(deep(20_000))]).toEqual([[path, deep(19_900)]]);
  });

  test('are the columns, in order of first appearance', () => {
    const rows = ['{"u":{"id":1}}', '{"u":{"n":2,"id":3},"x":4}', '{"u":5}'].map(ndjsonRow);
    expect(listFlatColumns(rows)).toEqual(['u.id', 'u.n', 'x', 'u']);
  });

  test('are refused as columns where there are as many as values', () => {
    const keyed = Object.fromEntries(Array.from({length: 2_001}, (_, n) => [`user_${n}`, {seen: n}]));
    expect(() => listFlatColumns([ndjsonRow(JSON.stringify(keyed))])).toThrow(
      /--flatten: .*2000 different fields/,
    );
  });
});

test('NDJSON to CSV: a column for each nested field; fields that the sample lacked go into other_fields', () => {
  const input = ndjsonInput(['ip', 'user.id', 'user.name']);
  const encoder = createRowEncoder(input, city, output({flatten: true}));
  expect(encoder.head).toBe(
    'ip,user.id,user.name,other_fields,ip_status,ip_error,ip_is_vpn,ip_city,ip_latitude\n',
  );
  const rows = [
    '{"ip":"192.0.2.1","user":{"name":"A, B","id":9007199254740993}}',
    '{"user":{"id":null,"more":{"x":true}}}',
  ];
  expect(encoder.encode(rows.map(raw => enriched(ndjsonRow(raw), [answer])))).toBe(
    '192.0.2.1,9007199254740993,"A, B",,ok,,false,Berlin,\n,,,"{""user.more.x"":true}",ok,,false,Berlin,\n',
  );
});

describe('to NDJSON: the columns that CSV would have, as fields with their types', () => {
  const flat = output({kind: 'ndjson', flatten: true, risk: planRiskColumns(undefined)});
  const risk = {score: null, level: 'unknown', reasons: ['tor'], points: {tor: 40}, missing: ['ip']} as const;

  test('from NDJSON, the row’s own text as it was', () => {
    const encoder = createRowEncoder(ndjsonInput(['ip']), city, flat);
    expect(encoder.encode([enriched(ndjsonRow('{"ip":{"v4":1e400}}'), [answer], risk)])).toBe(
      '{"ip":{"v4":1e400},"ip_status":"ok","ip_error":null,"ip_is_vpn":false,"ip_city":"Berlin","ip_latitude":null,"risk_score":null,"risk_level":"unknown","risk_reasons":["tor"],"risk_points":{"tor":40},"risk_missing":["ip"]}\n',
    );
  });

  test('from CSV, without an answer', () => {
    const encoder = createRowEncoder(csvInput(['ip', 'n']), city, {...flat, risk: []});
    expect(encoder.encode([enriched(csvRow(['x', '7']), [invalid])])).toBe(
      '{"ip":"x","n":"7","ip_status":"invalid","ip_error":"ip_list","ip_is_vpn":null,"ip_city":null,"ip_latitude":null}\n',
    );
  });

  test('repairs by their lookup, and a null without any', () => {
    const encoder = createRowEncoder(ndjsonInput(['ip']), city, {...flat, risk: [], repairs: true});
    const row = enriched(ndjsonRow('{}'), [invalid]);
    const [without, of] = [row, {...row, repairs: [['quoted'] as const]}].map(
      one => JSON.parse(encoder.encode([one])) as object,
    );
    expect(without).toHaveProperty('input_repairs', null);
    expect(of).toHaveProperty('input_repairs', {ip: ['quoted']});
  });

  test('a row that has a field of that name ends the run', () => {
    const encoder = createRowEncoder(ndjsonInput(['ip']), city, flat);
    const row = enriched(ndjsonRow('{"ip_city":1}'), [answer], risk);
    expect(() => encoder.encode([row])).toThrow(expect.objectContaining({code: 'column_clash'}));
  });
});

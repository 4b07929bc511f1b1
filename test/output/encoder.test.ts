import {describe, expect, test} from 'vitest';
import type {CellResult} from '../../src/ledger/lookup-outcome.ts';
import {createRowEncoder, flatMembers, listFlatColumns, passthroughNames} from '../../src/output/encoder.ts';
import {planRiskColumns} from '../../src/output/result-columns.ts';
import {csvRow, ndjsonRow} from '../lookup/rows.ts';
import {csvInput, enriched, looked, ndjsonInput, ok, output} from './formats.ts';

const city = looked('ip', 'ip', ['city']);
const answeredRow = (cells: readonly string[], ...results: CellResult[]) => enriched(csvRow(cells), results);

describe('CSV', () => {
  const encode = (cells: readonly string[], options = {}, answer: object = {city: 'Berlin'}) => {
    const encoder = createRowEncoder(csvInput(['ip', 'note']), city, output(options));
    return encoder.encode([answeredRow(cells, ok(answer))]);
  };

  test('the head is the input’s header and the added columns, with mark, sep line, delimiter and line ends', () => {
    const input = csvInput(['IP', 'IP', ''], {columns: ['IP', 'IP#2', 'column_3']});
    expect(createRowEncoder(input, city, output()).head).toBe('IP,IP,,ip_status,ip_error,ip_city\n');
    const excel = output({bom: true, sepLine: true, delimiter: ';', eol: '\r\n'});
    const head = '\uFEFFsep=;\r\nIP;IP;;ip_status;ip_error;ip_city\r\n';
    expect(createRowEncoder(input, city, excel).head).toBe(head);
    const bare = csvInput(['column_1'], {header: undefined});
    expect(createRowEncoder(bare, city, output()).head).toBe('column_1,ip_status,ip_error,ip_city\n');
  });

  test('answers of two operations with the same text have each the columns of their own', () => {
    const columns = [...looked('ip', 'ip', ['city']), ...looked('email', 'email', ['domain', 'is_valid'])];
    const encoder = createRowEncoder(csvInput(['ip', 'email']), columns, output());
    const both = ok({city: 'Bonn', domain: 'example.com', is_valid: true});
    const row = answeredRow(['192.0.2.1', 'jo@example.com'], both, both);
    // From the third time on, the encoder remembers the answer's text.
    for (const _ of [1, 2, 3])
      expect(encoder.encode([row])).toBe('192.0.2.1,jo@example.com,ok,,Bonn,ok,,true,example.com\n');
  });

  test('texts of answers are made safe against formulas, the input’s own only where asked for', () => {
    const formula = {city: '=1+1'};
    expect(encode(['=2', '+1 555'], {}, formula)).toBe("=2,+1 555,ok,,'=1+1\n");
    expect(encode(['=2', '+1 555'], {escapeInput: true}, formula)).toBe("'=2,+1 555,ok,,'=1+1\n");
    expect(encode(['=2', '+1 555'], {escapeAnswers: false}, formula)).toBe('=2,+1 555,ok,,=1+1\n');
  });

  test('names of columns are made safe like cells, where that is asked for', () => {
    const input = csvInput(['=1+1', 'ip']);
    const head = (options: object) => createRowEncoder(input, city, output(options)).head;
    expect(head({escapeInput: true})).toBe("'=1+1,ip,ip_status,ip_error,ip_city\n");
    expect(head({})).toBe('=1+1,ip,ip_status,ip_error,ip_city\n');
  });

  test('a number of an answer is no formula, however it is spelled', () => {
    const result = {status: 'ok', data: '{"latitude":-1.50e+1}', boughtAt: 0} as const;
    const encoder = createRowEncoder(csvInput(['x']), looked('ip', 'x', ['latitude']), output());
    expect(encoder.encode([answeredRow(['x'], result)])).toBe('x,ok,,-1.50e+1\n');
  });

  test('a score of 0 is one, and no score is an empty cell', () => {
    const encoder = createRowEncoder(csvInput(['ip']), city, output({risk: planRiskColumns(undefined)}));
    const line = (score: number | null) => {
      const level = score === null ? 'unknown' : 'low';
      const risk = {score, level, reasons: [], points: {vpn: 0}, missing: []} as const;
      return encoder.encode([enriched(csvRow(['x']), [{status: 'empty'}], risk)]);
    };
    expect(line(0)).toBe('x,empty,,,0,low,[],"{""vpn"":0}",[]\n');
    expect(line(null)).toBe('x,empty,,,,unknown,[],"{""vpn"":0}",[]\n');
  });
});

describe('NDJSON', () => {
  const encode = (raw: string, result = ok({city: 'Berlin', new_field: 12}), columns = looked('ip', 'ip')) =>
    createRowEncoder(ndjsonInput(['ip']), columns, output({kind: 'ndjson'})).encode([
      enriched(ndjsonRow(raw), [result]),
    ]);
  const answer = '"enrichment":{"ip":{"status":"ok","error":null,"data":{"city":"Berlin","new_field":12}}}';

  test.each([
    ['{"ip":"192.0.2.1"}', `{"ip":"192.0.2.1",${answer}}\n`],
    ['{"n":123456789012345678,"e":1e400,"z":1.0}', `{"n":123456789012345678,"e":1e400,"z":1.0,${answer}}\n`],
    ['{"z":1,"a":2,"10":3,"2":4}', `{"z":1,"a":2,"10":3,"2":4,${answer}}\n`],
    ['{}', `{${answer}}\n`],
    ['{ }', `{ ${answer}}\n`],
    [' {"a":"}"} ', ` {"a":"}",${answer}} \n`],
    ['{"a":{}}', `{"a":{},${answer}}\n`],
    ['{"__proto__":{"x":1},"constructor":2}', `{"__proto__":{"x":1},"constructor":2,${answer}}\n`],
    ['{"a":"\\u00fc \\/"}', `{"a":"\\u00fc \\/",${answer}}\n`],
  ])('%s keeps its own text', (raw, expected) => {
    expect(encode(raw)).toBe(expected);
  });

  test('a result without an answer has a null in its place', () => {
    const of = (result: Parameters<typeof encode>[1]) => JSON.parse(encode('{}', result)).enrichment.ip;
    expect(of({status: 'empty'})).toEqual({status: 'empty', error: null, data: null});
    expect(of(invalid)).toEqual({...invalid, data: null});
  });

  test.each([
    [['quoted'], '"repairs":["quoted"],'],
    [['quoted', 'uri'], '"repairs":["quoted","uri"],'],
    [[], ''],
  ] as const)('repairs of a cell are told with its result: %j', (repairs, told) => {
    const row = {...enriched(ndjsonRow('{}'), [ok({city: 'Berlin'})]), repairs: [repairs]};
    const encoder = createRowEncoder(ndjsonInput(['ip']), looked('ip', 'ip'), output({kind: 'ndjson'}));
    expect(encoder.encode([row])).toContain(`"error":null,${told}"data":{"city":"Berlin"}`);
  });

  test('chosen fields alone, when fields are chosen', () => {
    const all = ok({city: 'Berlin', country: 'DE', new_field: 1});
    expect(encode('{}', all, city)).toContain('"data":{"city":"Berlin"}');
  });

  test('a row that has an enrichment of its own is no place for another', () => {
    expect(() => encode('{"enrichment":1}')).toThrow(expect.objectContaining({code: 'column_clash'}));
  });
});

test('from CSV to NDJSON the columns are fields in their order, all texts', () => {
  const input = csvInput(['ip', '10', '2', '__proto__', 'ip#2']);
  const row = answeredRow(['192.0.2.1', '007', '"q"', 'p'], {status: 'empty'});
  expect(createRowEncoder(input, city, output({kind: 'ndjson'})).encode([row])).toBe(
    '{"ip":"192.0.2.1","10":"007","2":"\\"q\\"","__proto__":"p","ip#2":"","enrichment":{"ip":{"status":"empty","error":null,"data":null}}}\n',
  );
});

describe('from NDJSON to CSV', () => {
  const input = ndjsonInput(['ip', 'id', 'constructor', '__proto__']);
  const encode = (raw: string) =>
    createRowEncoder(input, city, output()).encode([enriched(ndjsonRow(raw), [{status: 'empty'}])]);

  test('the head has a column for fields that the first rows did not have', () => {
    const head = 'ip,id,constructor,__proto__,other_fields,ip_status,ip_error,ip_city\n';
    expect(createRowEncoder(input, city, output()).head).toBe(head);
  });

  test.each([
    ['{"ip":"192.0.2.1","id":12345678901234567890}', '192.0.2.1,12345678901234567890,,,,'],
    ['{"a":{"id":1},"id":1e400}', ',1e400,,,"{""a"":{""id"":1}}",'],
    ['{"id":null,"ip":true}', 'true,,,,,'],
    ['{"id":[1,12345678901234567890]}', ',"[1,12345678901234567890]",,,,'],
    ['{"x":"=1","big":12345678901234567890}', ',,,,"{""x"":""=1"",""big"":12345678901234567890}",'],
    ['{"__proto__":"p","constructor":"c"}', ',,c,p,,'],
    ['{}', ',,,,,'],
  ])('%s', (raw, expected) => {
    expect(encode(raw)).toBe(`${expected}empty,,\n`);
  });
});

test('names that the output adds, whatever is looked up', () => {
  const [csv, ndjson] = [output(), output({kind: 'ndjson'})];
  for (const [input, written, added] of [
    [ndjsonInput(['ip']), ndjson, ['enrichment']],
    [ndjsonInput(['ip']), csv, ['other_fields']],
    [csvInput(['ip']), csv, []],
    [csvInput(['ip']), ndjson, ['enrichment']],
    [ndjsonInput(['ip']), {...ndjson, flatten: true}, []],
  ] as const)
    expect(passthroughNames(input, written)).toEqual({input: ['ip'], added});
});

const fields = looked('ip', 'ip', ['city', 'is_vpn', 'latitude']);
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
    const list = () => listFlatColumns([ndjsonRow(JSON.stringify(keyed))]);
    expect(list).toThrow(/--flatten: .*2000 different fields/);
  });
});

test('NDJSON to CSV: a column for each nested field; fields that the sample lacked go into other_fields', () => {
  const input = ndjsonInput(['ip', 'user.id', 'user.name']);
  const encoder = createRowEncoder(input, fields, output({flatten: true}));
  const head = 'ip,user.id,user.name,other_fields,ip_status,ip_error,ip_is_vpn,ip_city,ip_latitude\n';
  expect(encoder.head).toBe(head);
  const first = '{"ip":"192.0.2.1","user":{"name":"A, B","id":9007199254740993}}';
  const rows = [first, '{"user":{"id":null,"more":{"x":true}}}'];
  expect(encoder.encode(rows.map(raw => enriched(ndjsonRow(raw), [answer])))).toBe(
    '192.0.2.1,9007199254740993,"A, B",,ok,,false,Berlin,\n,,,"{""user.more.x"":true}",ok,,false,Berlin,\n',
  );
});

describe('to NDJSON: the columns that CSV would have, as fields with their types', () => {
  const flat = output({kind: 'ndjson', flatten: true, risk: planRiskColumns(undefined)});
  const risk = {score: null, level: 'unknown', reasons: ['tor'], points: {tor: 40}, missing: ['ip']} as const;

  test('from NDJSON, the row’s own text as it was', () => {
    const encoder = createRowEncoder(ndjsonInput(['ip']), fields, flat);
    expect(encoder.encode([enriched(ndjsonRow('{"ip":{"v4":1e400}}'), [answer], risk)])).toBe(
      '{"ip":{"v4":1e400},"ip_status":"ok","ip_error":null,"ip_is_vpn":false,"ip_city":"Berlin","ip_latitude":null,"risk_score":null,"risk_level":"unknown","risk_reasons":["tor"],"risk_points":{"tor":40},"risk_missing":["ip"]}\n',
    );
  });

  test('from CSV, without an answer', () => {
    const encoder = createRowEncoder(csvInput(['ip', 'n']), fields, {...flat, risk: []});
    expect(encoder.encode([enriched(csvRow(['x', '7']), [invalid])])).toBe(
      '{"ip":"x","n":"7","ip_status":"invalid","ip_error":"ip_list","ip_is_vpn":null,"ip_city":null,"ip_latitude":null}\n',
    );
  });

  test('repairs by their lookup, and a null without any', () => {
    const encoder = createRowEncoder(ndjsonInput(['ip']), fields, {...flat, risk: [], repairs: true});
    const row = enriched(ndjsonRow('{}'), [invalid]);
    const told = (one: typeof row) => JSON.parse(encoder.encode([one]));
    expect(told(row)).toHaveProperty('input_repairs', null);
    expect(told({...row, repairs: [['quoted']]})).toHaveProperty('input_repairs', {ip: ['quoted']});
  });

  test('a row that has a field of that name ends the run', () => {
    const encoder = createRowEncoder(ndjsonInput(['ip']), fields, flat);
    const row = enriched(ndjsonRow('{"ip_city":1}'), [answer], risk);
    expect(() => encoder.encode([row])).toThrow(expect.objectContaining({code: 'column_clash'}));
  });
});

import {describe, expect, test} from 'vitest';
import {makeTargets} from '../../src/columns/targets.ts';
import type {CellResult} from '../../src/ledger/lookup-outcome.ts';
import {operationNames} from '../../src/operations/table.ts';
import {formulaSafe} from '../../src/output/csv-line.ts';
import {createRowEncoder} from '../../src/output/encoder.ts';
import {
  addedNames,
  fieldsOfOperation,
  pickFields,
  planColumns,
  planRiskColumns,
  refuseClashes,
  refuseEnrichmentKeyClashes,
  type TargetColumns,
} from '../../src/output/result-columns.ts';
import {csvRow, ndjsonRow} from '../lookup/rows.ts';
import {csvInput, enriched, looked, ndjsonInput, ok, output} from './formats.ts';

test('each looked-up column adds its status, its error and its fields, prefixed', () => {
  const targets = makeTargets('email', [{column: 'email'}], ['email']);
  expect(addedNames(planColumns(targets, undefined), {risk: [], repairs: false})).toEqual(
    ['status', 'error', ...fieldsOfOperation('email').map(({name}) => name)].map(name => `email_${name}`),
  );
});

describe('--fields', () => {
  const targets = [
    ...makeTargets('ip', [{column: 'a'}, {column: 'b'}], ['a', 'b']),
    ...makeTargets('email', [{column: 'c'}], ['c']),
  ];

  test('cuts the columns down, in the interface’s order; status and error stay', () => {
    const columns = planColumns(targets, ['city', 'ip.is_vpn', 'email.trust_score']);
    expect(addedNames(columns, {risk: [], repairs: false})).toEqual([
      ...['a_status', 'a_error', 'a_is_vpn', 'a_city'],
      ...['b_status', 'b_error', 'b_is_vpn', 'b_city'],
      ...['email_status', 'email_error', 'email_trust_score'],
    ]);
  });

  test.each(operationNames)('takes each field of %s by any of its four names', operation => {
    const own = makeTargets(operation, [{column: 't'}], ['t']);
    for (const {name, path} of fieldsOfOperation(operation))
      for (const written of [name, path.join('.'), `${operation}.${name}`, `${operation}.${path.join('.')}`])
        expect(
          planColumns(own, [written])[0]?.fields.map(field => field.name),
          written,
        ).toContain(name);
  });

  test.each([
    ['email.trust_scor', 'Did you mean "email.trust_score"?'],
    ['isvpn', 'Did you mean "is_vpn"?'],
    ['colour', 'Known fields: ip.is_vpn, '],
    ['phone.carrier', 'Known fields: ip.is_vpn, '],
  ])('refuses %s', (name, hint) => {
    expect(() => planColumns(targets, [name])).toThrow(`no answer has a field "${name}". ${hint}`);
    expect(() => planColumns(targets, ['shared.mailbox'])).toThrow(/ input_repairs, .*risk\.shared\.$/);
  });
});

test('an added column may not have the name of an input column, nor of another added one', () => {
  expect(() => refuseClashes(['ip', 'ip_status'], ['ip_status'])).toThrow('would have "ip_status" twice');
  expect(() => refuseClashes([], ['a_city', 'a_city'])).toThrow('would have "a_city" twice');
  expect(() => refuseClashes(['a', 'a'], ['b'])).not.toThrow();
});

test('where columns were guessed, the flags that end a clash name all of them, and rename one alone', () => {
  const targets = [
    ...makeTargets('ip', [{column: 'ip'}], ['ip', 'mail']),
    ...makeTargets('email', [{column: 'mail'}], ['ip', 'mail']),
  ];
  const clash = (countries?: readonly string[]) => () =>
    refuseClashes(['ip', 'mail', 'email_status'], ['ip_status', 'email_status'], targets, countries);
  const flags = ['--ip', 'ip', '--email', 'mail=checked_'];
  expect(clash([])).toThrow(expect.objectContaining({code: 'column_clash', remedy: {flags}}));
  expect(clash()).toThrow(expect.objectContaining({code: 'column_clash', remedy: {}}));
});

test('the output of a run is told as that: each clash gets a prefix of its own, and its answers are no values', () => {
  const input = ['ip', 'mail', 'ip_status', 'ip_error', 'email_status', 'email_error', 'email_normalized'];
  const targets = [
    ...makeTargets('ip', [{column: 'ip'}], input),
    ...makeTargets('email', [{column: 'mail'}], input),
    ...makeTargets('email', [{column: 'email_normalized', prefix: 'x_'}], input),
  ];
  const added = ['ip_status', 'email_status', 'x_status'];
  const flags = ['--ip', 'ip=checked_ip_', '--email', 'mail=checked_email_', '--country', 'land'];
  const message = expect.stringMatching(/^The list is the output of a run: .* bulk-enrich score/);
  const refused = expect.objectContaining({remedy: {flags}, message});
  expect(() => refuseClashes(input, added, targets, ['land'])).toThrow(refused);
});

test('in NDJSON two columns may not have one key, nor one that of the risk', () => {
  const of = (...prefixes: string[]) => {
    const choices = prefixes.map((prefix, at) => ({column: 'ab'[at] ?? '', prefix}));
    return planColumns(makeTargets('ip', choices, ['a', 'b']), undefined);
  };
  expect(() => refuseEnrichmentKeyClashes(of('risk_', 'b_'), true)).toThrow('"enrichment.risk" twice');
  expect(() => refuseEnrichmentKeyClashes(of('risk_', 'b_'), false)).not.toThrow();
  expect(() => refuseEnrichmentKeyClashes(of('x_', 'x_'), false)).toThrow('"enrichment.x" twice');
});

test('--fields leaves the explanation of the risk out, or names its parts; the risk stays', () => {
  expect(planRiskColumns(undefined)).toEqual(['score', 'level', 'reasons', 'points', 'missing']);
  expect(planRiskColumns(['ip.city'])).toEqual(['score', 'level', 'reasons']);
  expect(planRiskColumns(['ip.city', 'risk.missing'])).toEqual(['score', 'level', 'reasons', 'missing']);
  expect(planRiskColumns(['risk.shared'])).toEqual(['score', 'level', 'reasons', 'shared']);
  expect(planRiskColumns(['points'])).toEqual(['score', 'level', 'reasons']);
});

describe('cells', () => {
  const target = makeTargets('ip', [{column: 'ip'}], ['ip']);
  const cellsOf = (result: CellResult, columns: readonly TargetColumns[]) => {
    const encoder = createRowEncoder(csvInput(['ip']), columns, output());
    return encoder.encode([enriched(csvRow(['x']), [result])]).slice('x,'.length, -1);
  };

  test.each<[CellResult, field: string, cells: string]>([
    [ok({city: 'Berlin'}), 'city', 'ok,,Berlin'],
    [ok({city: ''}), 'city', 'ok,,'],
    [ok({city: null}), 'city', 'ok,,'],
    [ok({}), 'city', 'ok,,'],
    [ok({is_vpn: true}), 'is_vpn', 'ok,,true'],
    [ok({is_vpn: false}), 'is_vpn', 'ok,,false'],
    [ok({latitude: -122.4}), 'latitude', 'ok,,-122.4'],
    [ok({asn_number: 0}), 'asn_number', 'ok,,0'],
    [ok({city: '=1+1'}), 'city', "ok,,'=1+1"],
    [{status: 'empty'}, 'city', 'empty,,'],
    [{status: 'failed', error: 'timeout'}, 'city', 'failed,timeout,'],
    [{status: 'skipped', error: 'budget'}, 'city', 'skipped,budget,'],
    [{...ok({city: 'Berlin'}), status: 'unknown', error: 'x'} as CellResult, 'city', 'unknown,x,Berlin'],
  ])('%j has %s as %s', (result, field, cells) => {
    expect(cellsOf(result, looked('ip', 'ip', [field]))).toBe(cells);
  });

  test('a list is a cell of JSON', () => {
    const columns = planColumns(makeTargets('verify', [{column: 't'}], ['t']), ['email.flags']);
    expect(cellsOf(ok({email: {flags: ['a', 'b,c']}}), columns)).toBe('ok,,"[""a"",""b,c""]"');
  });

  test.each<[CellResult, string, string]>([
    [ok({}), 'false', 'false'],
    [{status: 'ok', data: '{}', boughtAt: 0, stale: 'outage'}, 'true', 'true'],
    [{status: 'failed', error: 'no_value', rejected: 'twice', boughtAt: 0, stale: 'budget'}, 'true', 'true'],
    [{status: 'skipped', error: 'outage'}, '', 'null'],
  ])('where answers may be stale, a column says so: %j', (result, cell, member) => {
    const columns = planColumns(target, ['city'], true);
    const names = addedNames(columns, {risk: [], repairs: false});
    expect(names).toEqual(['ip_status', 'ip_error', 'ip_stale', 'ip_city']);
    expect(cellsOf(result, columns).split(',')[2]).toBe(cell);
    const encoder = createRowEncoder(ndjsonInput(['ip']), columns, output({kind: 'ndjson'}));
    const line = encoder.encode([enriched(ndjsonRow('{"ip":"x"}'), [result])]);
    expect(line).toContain(`,"stale":${member},"data"`);
  });

  test('rows with the same answer, fresh or stale, each say which it was', () => {
    const columns = planColumns(target, ['city'], true);
    const encoder = createRowEncoder(csvInput(['ip']), columns, output());
    const fresh = ok({city: 'X'});
    const stale = {...fresh, stale: 'outage'} as CellResult;
    const marks = [fresh, fresh, fresh, stale, stale, stale, fresh].map(result => {
      return encoder.encode([enriched(csvRow(['192.0.2.1']), [result])]).split(',')[3];
    });
    expect(marks).toEqual(['false', 'false', 'false', 'true', 'true', 'true', 'false']);
  });
});

test.each([
  ...['=1+1', '=cmd|x', '+cmd', '-cmd', '@SUM(1)', '\t=1', '\r=1', '\n=1', '-2+3', '+1=2'],
  ...['＝1+1', '＋cmd', '－cmd', '＠SUM(1)'],
])('formula %j gets an apostrophe', text => {
  expect(formulaSafe(text)).toBe(`'${text}`);
});

test.each([
  ...['', '-', '+', '+12025550143', '+1 (202) 555-0143', '-122.4', '-1,234.5', '12', 'a=b', "'quoted", '1-2'],
])('%j stays as it is', text => {
  expect(formulaSafe(text)).toBe(text);
});

test('true-or-false fields are flags, lists are JSON, all others plain', () => {
  const kinds = new Map(fieldsOfOperation('verify').map(({name, kind}) => [name, kind]));
  const names = ['can_pass', 'device_is_mobile', 'rules', 'score', 'user_id'];
  expect(names.map(name => kinds.get(name)).join(' ')).toBe('flag flag json scalar scalar');
});

test('an answer cut down to some fields keeps its nesting, and leaves out missing fields', () => {
  const some = ['can_pass', 'device_os', 'location_city'];
  const fields = fieldsOfOperation('verify').filter(({name}) => some.includes(name));
  const text = '{"score":1,"verdict":{"can_pass":false,"redeemed":true},"device":{"os":"x","browser":"y"}}';
  expect(pickFields(JSON.parse(text), fields)).toEqual({verdict: {can_pass: false}, device: {os: 'x'}});
});

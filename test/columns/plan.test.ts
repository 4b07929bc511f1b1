import {expect, test} from 'vitest';
import {createRowPlanner, type PlannedCell, type VerdictCellReaders} from '../../src/columns/plan-row.ts';
import {createCellReader, makeTargets, requireColumn} from '../../src/columns/targets.ts';
import {csvRows, ndjsonRow} from '../lookup/rows.ts';

const columns = ['ip', 'phone', 'email', 'country', 'token', 'id'];
const [row = csvRows([])[0]] = csvRows(['192.0.2.1', '2025550143', 'Jo@EXAMPLE.com', 'us', 'tok-1', ' u7 ']);
if (row === undefined) throw new Error('there is one row');

const target = (operation: 'ip' | 'phone' | 'email' | 'verify', column: string) =>
  makeTargets(operation, [{column}], columns);
const params = (planned: PlannedCell | undefined) =>
  planned?.status === 'ask' ? planned.lookup.params : planned;

test('a number that comes again is read with the country of its own row', () => {
  const countryOf = () => createCellReader('country', columns);
  const plan = createRowPlanner(target('phone', 'phone'), {countryOf});
  const rows = ['us', 'us', 'us', 'gb', 'gb', 'us'].map(country => ['', '2079460123', '', country, '', '']);
  const asked = csvRows(...rows).map(one => params(plan(one)[0]));
  const [us, gb] = [{phone: '+12079460123'}, {phone: '+442079460123'}];
  expect(asked).toEqual([us, us, us, gb, gb, us]);
});

test('a row that lacks the cell is empty there', () => {
  const plan = createRowPlanner(target('ip', 'id'), {});
  const [short] = csvRows(['192.0.2.1']);
  expect(short && plan(short)).toEqual([{status: 'empty'}]);
});

const verdict: VerdictCellReaders = {
  actionId: 'a/1',
  id: createCellReader('id', columns),
  email: createCellReader('email', columns),
  phone: createCellReader('phone', columns),
};

const token = {action_id: 'a/1', token: 'tok-1'};

test('a verdict is sent with all values beside its token, except invalid ones', () => {
  const plan = createRowPlanner(target('verify', 'token'), {verdict, defaultCountry: 'US'});
  const beside = {id: 'u7', email: 'Jo@example.com', phone_number: '+12025550143'};
  expect(params(plan(row)[0])).toEqual({...token, ...beside});
  const [bare] = csvRows(['', '12', 'jo', '', 'tok-1', '']);
  expect(bare && params(plan(bare)[0])).toEqual(token);
});

test('a repair of several values that go into one call is told once', () => {
  const plan = createRowPlanner(target('verify', 'token'), {verdict, defaultCountry: 'US'});
  const [formulas] = csvRows(['', '="12025550143"', '="jo@example.com"', '', 'tok-1', '="u7"']);
  expect(formulas && plan(formulas)).toMatchObject([{status: 'ask', repairs: ['formula_text']}]);
});

test('the first rows show if numbers lost their plus, also for numbers sent with a token', () => {
  const rows = csvRows(...Array.from({length: 5}, (_, n) => ['', `49171392000${n}`, '', 'DE', 'tok-1', '']));
  const cells = {verdict, defaultCountry: 'DE'};
  const both = [...target('phone', 'phone'), ...target('verify', 'token')];
  const asked = (first: typeof rows) => createRowPlanner(both, cells, first)(rows[0] ?? row).map(params);
  expect(asked([])).toEqual([{status: 'invalid', error: 'calling_code_unclear'}, token]);
  const phone = '+491713920000';
  expect(asked(rows)).toEqual([{phone}, {...token, phone_number: phone}]);
});

test('a verdict is another one with another id; the same lookup has the same key', () => {
  const plan = createRowPlanner(target('verify', 'token'), {verdict});
  const rows = [',,,,tok-1,u1', ',,,,tok-1,u2', 'x,,,, tok-1 ,u1'].map(row => row.split(','));
  const keys = csvRows(...rows).map(some => {
    const [planned] = plan(some);
    return planned?.status === 'ask' ? planned.lookup.key : undefined;
  });
  expect(keys[0]).toMatch(/^[\w-]{22}$/);
  expect(keys[1]).not.toBe(keys[0]);
  expect(keys[2]).toBe(keys[0]);
});

test.each([
  ['{"ip":"192.0.2.1"}', 'ip', '192.0.2.1'],
  ['{"user":{"ip":"192.0.2.1"}}', 'user.ip', '192.0.2.1'],
  ['{"user.ip":"192.0.2.1","user":{"ip":"x"}}', 'user.ip', '192.0.2.1'],
  ['{"phone":12025550143}', 'phone', '12025550143'],
  ['{"phone":{"$numberLong":"12025550143"}}', 'phone', '12025550143'],
  ['{"phone":{"$numberDouble":12025550143}}', 'phone', '12025550143'],
  ['{"ip":null}', 'ip', undefined],
  ['{}', 'ip', undefined],
  ['{"ip":["192.0.2.1"]}', 'ip', '192.0.2.1'],
  ['{"ip":["192.0.2.1","192.0.2.2"]}', 'ip', '192.0.2.1, 192.0.2.2'],
  ['{"ip":[7,["192.0.2.1"]]}', 'ip', '[7,["192.0.2.1"]]'],
  ['{"ip":true}', 'ip', 'true'],
  ['{}', 'constructor', undefined],
  ['{}', '__proto__', undefined],
  ['{"a":{}}', 'a.constructor.name', undefined],
  ['{"__proto__":"192.0.2.1"}', '__proto__', '192.0.2.1'],
])('NDJSON: the cell of %s at %s is %j', (raw, name, expected) => {
  expect(createCellReader(name, [])(ndjsonRow(raw))).toBe(expected);
});

test('NDJSON: a cell that is nested too deep is text that no value looks like', () => {
  const raw = `{"ip":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;
  expect(createCellReader('ip', [])(ndjsonRow(raw))).toBe('nested too deep');
});

test('two columns for one operation have their own names as prefixes, unless told otherwise', () => {
  const choices = [{column: 'email'}, {column: 'id', prefix: 'other_'}];
  expect(makeTargets('ip', choices, columns).map(({prefix}) => prefix)).toEqual(['email_', 'other_']);
  expect(makeTargets('ip', [{column: 'id'}], columns).map(({prefix}) => prefix)).toEqual(['ip_']);
  expect(makeTargets('verify', [{column: 'id'}], columns).map(({prefix}) => prefix)).toEqual(['verdict_']);
});

test('a column that is not there is an error that names the nearest one', () => {
  expect(() => requireColumn('emial', columns, 'csv', '--email')).toThrow(
    '--email: there is no column "emial" (columns: ip, phone, email, country, token, id). Did you mean "email"?',
  );
  expect(() => requireColumn('emial', columns, 'ndjson', '--email')).not.toThrow();
});

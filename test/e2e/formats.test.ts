import {readFileSync} from 'node:fs';
import {gunzipSync, gzipSync} from 'node:zlib';
import {parse} from 'csv-parse/sync';
import {afterAll, beforeAll, beforeEach, expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';
import {FAST, startService} from './service.ts';

const service = opened(startService, beforeAll);
const sandbox = opened(createSandbox);
beforeEach(() => service.setScript(undefined));
afterAll(() => expect(service.ledger.violations).toEqual([]));

const CITY = ['--fields', 'ip.city', ...FAST];
const berlin = () =>
  service.setScript(call =>
    reply.json({success: true, data: {city: '=Berlin', latitude: -122.4, phone: call.value}}),
  );

/** Runs, and expects a good end. */
async function enrich(args: readonly string[]): Promise<void> {
  const outcome = await runHere(sandbox, ['run', ...args], {env: service.env});
  expect(outcome, outcome.stderr).toMatchObject({code: 0, stdout: ''});
}

test('a semicolon file with mark, sep line and CRLF comes out as it came in', async () => {
  berlin();
  const own = [
    'ip;note;ip;amount',
    '192.0.2.1;"a;b""c\r\nd";x;0012,50',
    '192.0.2.2;=1+1;;-122.4',
    '192.0.2.1;+15551230000;"";007',
  ];
  sandbox.write('list.csv', `\uFEFFsep=;\r\n${own.join('\r\n')}`);
  await enrich(['list.csv', '--ip', 'ip', ...CITY]);
  const added = [';ip_status;ip_error;ip_city', ...own.slice(1).map(() => ";ok;;'=Berlin")];
  const expected = own.map((line, n) => `${line.replace('""', n === 3 ? '' : '""')}${added[n]}\r\n`).join('');
  expect(sandbox.read('list.enriched.csv')).toBe(`\uFEFFsep=;\r\n${expected}`);
});

test('NDJSON keeps its numbers, its order and its spelling', async () => {
  berlin();
  const lines = [
    '{"id":12345678901234567890,"ip":"192.0.2.1","10":1e400,"2":1.50}',
    '{ "ip" : "x", "__proto__" : {"a":1} }',
  ];
  sandbox.write('list.ndjson', `${lines.join('\n')}\n`);
  await enrich(['list.ndjson', '--ip', 'ip', ...FAST]);
  const results = [
    '{"status":"ok","error":null,"data":{"city":"=Berlin","latitude":-122.4,"phone":"192.0.2.1"}}',
    '{"status":"invalid","error":"ip_malformed","data":null}',
  ];
  const expected = lines.map((line, n) => `${line.slice(0, -1)},"enrichment":{"ip":${results[n]}}}\n`);
  expect(sandbox.read('list.enriched.ndjson')).toBe(expected.join(''));
});

test('CSV to NDJSON and back: the same values in the same columns', async () => {
  sandbox.write('list.csv', 'ip,10,2,__proto__\n192.0.2.1,007,"a ""b""",p\n192.0.2.2,,=x,\n');
  await enrich(['list.csv', '--ip', 'ip', '--output-format', 'ndjson', '-o', 'a.ndjson', ...FAST]);
  const stripped = sandbox.read('a.ndjson').replace(/,"enrichment".*$/gm, '}');
  expect(stripped).toBe(
    '{"ip":"192.0.2.1","10":"007","2":"a \\"b\\"","__proto__":"p"}\n{"ip":"192.0.2.2","10":"","2":"=x","__proto__":""}\n',
  );
  sandbox.write('b.ndjson', stripped);
  await enrich(['b.ndjson', '--ip', 'ip', '--output-format', 'csv', '-o', 'c.csv', ...CITY]);
  const rows = parse(sandbox.read('c.csv')) as string[][];
  expect(rows.map(row => row.slice(0, 5))).toEqual([
    ['ip', '10', '2', '__proto__', 'other_fields'],
    ['192.0.2.1', '007', 'a "b"', 'p', ''],
    ['192.0.2.2', '', '=x', '', ''],
  ]);
});

test('stdin to stdout: nothing but the rows on stdout', async () => {
  berlin();
  const args = ['run', '-', '-o', '-', '--ip', 'ip', ...CITY];
  const {stdout} = await runHere(sandbox, args, {env: service.env, stdin: 'ip\n192.0.2.1\n'});
  expect(stdout).toBe("ip,ip_status,ip_error,ip_city\n192.0.2.1,ok,,'=Berlin\n");
  expect(sandbox.files()).toEqual([]);
});

test('several inputs, one of them gzipped, become one output', async () => {
  sandbox.write('a.csv', 'ip,n\n192.0.2.1,1\n192.0.2.2,2\n');
  sandbox.write('b.csv.gz', gzipSync('ip,n\n192.0.2.3,3\n192.0.2.1,4\n'));
  await enrich(['a.csv', 'b.csv.gz', '-o', 'all.csv', '--ip', 'ip', ...CITY]);
  const rows = parse(sandbox.read('all.csv')) as string[][];
  expect(rows.map(row => row[1])).toEqual(['n', '1', '2', '3', '4']);
  expect(sandbox.summary('all.summary.json').lookups.ip).toMatchObject({values: 4, distinct: 3, calls: 3});
});

test('a header alone is a success; columns that are not named are left out', async () => {
  sandbox.write('empty.csv', 'ip,email\n');
  await enrich(['empty.csv', ...FAST]);
  expect(sandbox.read('empty.enriched.csv')).toMatch(/^ip,email,ip_status,.*,email_domain,input_repairs\n$/);
  sandbox.write('list.csv', 'ip,email\n192.0.2.9,jo@example.com\n');
  const before = service.ledger.byOperation.email;
  await enrich(['list.csv', '--ip', 'ip', ...FAST]);
  expect(service.ledger.byOperation.email).toBe(before);
  expect(sandbox.read('list.enriched.csv')).not.toContain('email_status');
});

test('a column that no NDJSON row has is a warning with the name that is near', async () => {
  sandbox.write('list.ndjson', '{"ip":"192.0.2.1","email":null}\n');
  const args = ['run', 'list.ndjson', '--ip', 'ip', '--email', 'e_mail', ...FAST];
  const {code, stderr} = await runHere(sandbox, args, {env: service.env});
  expect(code).toBe(0);
  expect(stderr).toContain('--email: the first rows have nothing in "e_mail". Did you mean "email"?');
});

test('verdicts: the values beside the token are sent with it, and test actions are free', async () => {
  const before = service.ledger.creditsByOperation.verify;
  const rows = ['tok-1,u1,jo@example.com,+12025550143', 'tok-2,,not one,12'];
  const again = 'tok-1,u1,jo@EXAMPLE.com,+1 202 555 0143';
  sandbox.write('list.csv', `${['session,user,mail,tel', ...rows, again, ',u2,,'].join('\n')}\n`);
  const bodies: unknown[] = [];
  service.setScript(({body}) => void bodies.push(body));
  const action = 't/FFFFFFFFFFFFF/111111111';
  const verdict = `token=session,action=${action},id=user,email=mail,phone=tel`;
  await enrich(['list.csv', '--verdict', verdict, '--fields', 'can_pass,user_id', ...FAST]);
  const all = {api_key: expect.any(String), action_id: action};
  const first = {...all, token: 'tok-1', id: 'u1', email: 'jo@example.com', phone_number: '+12025550143'};
  // A later row with the same token asks again, after the first.
  expect(bodies).toEqual([first, {...all, token: 'tok-2'}, first]);
  const written = parse(sandbox.read('list.enriched.csv')) as string[][];
  expect(written.map(row => row.slice(4))).toEqual([
    ['verdict_status', 'verdict_error', 'verdict_user_id', 'verdict_can_pass'],
    ['ok', '', 'u1', 'true'],
    ['ok', '', '', 'true'],
    ['ok', '', 'u1', 'true'],
    ['empty', '', '', ''],
  ]);
  expect(service.ledger.creditsByOperation.verify).toBe(before);
  expect(sandbox.summary('list.enriched.summary.json').credits).toMatchObject({spent: 0, maybe_spent: 0});
});

test.each([
  ['list.csv', 'out.ndjson', /^\{"ip":"192\.0\.2\.1".*"enrichment":\{"ip":/],
  ['list.csv', 'out.tsv', /^ip\tn\tip_status\t/],
  ['list.ndjson', 'out.csv', /^ip,n,other_fields,ip_status,/],
  ['list.tsv', 'out.csv', /^ip,n,ip_status,/],
  ['tabs.csv', 'out.csv', /^ip\tn\tip_status\t/],
  ['list.csv', 'out.txt', /^ip,n,ip_status,/],
])('%s to %s: the name says how the output is written', async (input, output, expected) => {
  sandbox.write('list.csv', 'ip,n\n192.0.2.1,1\n');
  sandbox.write('list.tsv', 'ip\tn\n192.0.2.1\t1\n');
  sandbox.write('tabs.csv', 'ip\tn\n192.0.2.1\t1\n');
  sandbox.write('list.ndjson', '{"ip":"192.0.2.1","n":1}\n');
  await enrich([input, '--ip', 'ip', '-o', output, ...CITY]);
  expect(sandbox.read(output)).toMatch(expected);
});

test('a list of objects, and objects over several lines, come out one a line; gzipped where the name says so', async () => {
  berlin();
  sandbox.write('list.json', '[\n {"ip": "192.0.2.1",\n  "n": 1e400},\n {"ip": "192.0.2.2"}\n]\n');
  await enrich(['list.json', '--ip', 'ip', '--fields', 'ip.city', ...FAST]);
  const written = sandbox.read('list.enriched.ndjson');
  expect(written).toMatch(/^\{"ip": "192\.0\.2\.1","n": 1e400,"enrichment":\{"ip":\{"status":"ok"/);
  sandbox.write('two.json', '{\n "ip": "192.0.2.1",\n "n": 1e400\n}\n{"ip": "192.0.2.2"}\n');
  await enrich(['two.json', '--ip', 'ip', '--fields', 'ip.city', '-o', 'two.ndjson.gz', ...FAST]);
  const unzipped = gunzipSync(readFileSync(sandbox.path('two.ndjson.gz'))).toString();
  expect(unzipped.replaceAll(' ', '')).toBe(written.replaceAll(' ', ''));
});

test('flattened: NDJSON to CSV, and CSV to NDJSON', async () => {
  const [one, two] = ['{"user":{"ip":"192.0.2.1","tags":["a"]}}', '{"user":{"ip":"192.0.2.2","n":{"x":1}}}'];
  sandbox.write('list.ndjson', `${one}\n${two}\n`);
  const flat = ['--flatten', '--fields', 'ip.is_vpn', ...FAST];
  await enrich(['list.ndjson', '--ip', 'user.ip', '-o', 'out.csv', ...flat]);
  const [head, first] = parse(sandbox.read('out.csv')) as string[][];
  const columns = 'user.ip user.tags user.n.x other_fields ip_status ip_error';
  expect(head?.slice(0, 6)).toEqual(columns.split(' '));
  expect(first?.slice(0, 5)).toEqual(['192.0.2.1', '["a"]', '', '', 'ok']);
  await enrich(['out.csv', '--ip', 'user.ip=again_', '-o', 'back.ndjson', ...flat]);
  const [back = ''] = sandbox.read('back.ndjson').split('\n');
  expect(JSON.parse(back)).toMatchObject({'user.ip': '192.0.2.1', again_status: 'ok', again_error: null});
});

test('objects nested 20,000 deep are rows like any other: in a column of its own, flattened, compared, as an answer', async () => {
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  service.setScript(({value}) =>
    value === '192.0.2.2' ? reply.json({success: true, data: JSON.parse(deep(900))}) : undefined,
  );
  const more = '{"ip":"192.0.2.2","x":{"b":1}}\n{"ip":"192.0.2.3","x":{"b":2}}\n';
  sandbox.write('list.ndjson', `{"ip":"192.0.2.1","x":${deep(20_000)}}\n{"ip":${deep(20_000)}}\n${more}`);
  const args = ['run', 'list.ndjson', '--ip', 'ip', '--where', 'row.x != 1', ...FAST];
  for (const output of ['out.csv', 'out.ndjson']) {
    const {code, stderr} = await runHere(sandbox, [...args, '-o', output, '--flatten'], {env: service.env});
    expect([code, stderr]).toEqual([3, expect.stringContaining('4 rows written')]);
  }
  const rows = parse(sandbox.read('out.csv'), {columns: true}) as Record<string, string>[];
  expect(rows.map(row => [row.ip_status, row.ip_error, row['x.b']])).toEqual([
    ['skipped', 'filter', ''],
    ['invalid', 'ip_malformed', ''],
    ['failed', 'bad_response', '1'],
    ['ok', '', '2'],
  ]);
});

import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {expect, expectTypeOf, test} from 'vitest';
import type * as client from '../../src/client.ts';
import type * as all from '../../src/index.ts';
import {startApiServer} from '../support/api-server.ts';

/** Makes a call, and prints the packages whose scripts Node.js has by then. */
const LOOKUP = `async ({createClient}) => {
  const client = createClient({baseUrl: process.argv[1], apiKey: 'client-key-77aa'});
  await client.ip('203.0.113.7');
  client.close();
  const packages = new Set();
  const session = new (require('node:inspector').Session)();
  session.connect();
  session.on('Debugger.scriptParsed', ({params}) => packages.add(/.*node_modules.((?:@[^/]+.)?[^/]+)/.exec(params.url)?.[1]));
  session.post('Debugger.enable');
  console.log(JSON.stringify([...packages]));
}`;
const OF_RUNS =
  /^(libsql|libphonenumber-js|@marcbachmann.cel-js|csv-.*|iconv-lite|hono|pino|p-queue|bottleneck)$/;

test.each([
  ['an import', `import('bulk-enrich/client').then(${LOOKUP})`],
  ['require', `(${LOOKUP})(require('bulk-enrich/client'))`],
])('the package has it by %s, and makes a call without the packages of runs', async (_, code) => {
  // It is the same as in the whole library.
  expectTypeOf<typeof client.createClient>().toEqualTypeOf<typeof all.createClient>();
  expectTypeOf<client.Client>().toEqualTypeOf<all.Client>();
  expectTypeOf<client.AnswerData<'ip'>>().toEqualTypeOf<all.AnswerData<'ip'>>();
  await using api = await startApiServer({key: 'client-key-77aa'});
  const {stdout, stderr} = await promisify(execFile)(process.execPath, ['-e', code, api.url]);
  expect(stderr).toBe('');
  const packages: string[] = JSON.parse(stdout);
  expect(packages).toContain('got');
  expect(packages.filter(name => OF_RUNS.test(name))).toEqual([]);
  expect(api.ledger.calls).toBe(1);
});

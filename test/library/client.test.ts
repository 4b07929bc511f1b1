import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {expect, expectTypeOf, test} from 'vitest';
import type * as client from '../../src/client.ts';
import type * as all from '../../src/index.ts';
import {startApiServer} from '../support/api-server.ts';

const LOOKUP = `({createClient}) => {
  const client = createClient({baseUrl: process.argv[1], apiKey: 'client-key-77aa'});
  return client.ip('203.0.113.7').then(() => client.close()).then(() =>
    console.log(Object.keys(require.cache).filter(path => /libsql|zod|phone|cel-js/.test(path)).length));
}`;

test.each([
  ['an import', `import('bulk-enrich/client').then(${LOOKUP})`],
  ['require', `(${LOOKUP})(require('bulk-enrich/client'))`],
])('the package has it by %s, and makes a call without the store and the rules', async (_, code) => {
  // It is the same as in the whole library.
  expectTypeOf<typeof client.createClient>().toEqualTypeOf<typeof all.createClient>();
  expectTypeOf<client.Client>().toEqualTypeOf<all.Client>();
  expectTypeOf<client.AnswerData<'ip'>>().toEqualTypeOf<all.AnswerData<'ip'>>();
  await using api = await startApiServer({key: 'client-key-77aa'});
  const {stdout, stderr} = await promisify(execFile)(process.execPath, ['-e', code, api.url]);
  expect([stdout, stderr]).toEqual(['0\n', '']);
  expect(api.ledger.calls).toBe(1);
});

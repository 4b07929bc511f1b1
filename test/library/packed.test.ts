import {execFile} from 'node:child_process';
import {promisify} from 'node:util';
import {afterAll, describe, expect, test} from 'vitest';
import {installed} from '../support/installed.ts';

const sandbox = installed();
afterAll(() => sandbox[Symbol.dispose]());

/** A service that notes its calls and holds its answers while it is told to, and short names for what programs write. */
const BEGIN = `
import {getEventListeners} from 'node:events';
import {createServer} from 'node:http';
import {setTimeout as delay} from 'node:timers/promises';
import {BulkEnrichError, createClient, enrich, enrichStream, runJob} from 'bulk-enrich';
const calls = [], agents = new Set();
let held;
const server = createServer(async (request, response) => {
  const {ip, email} = JSON.parse((await request.toArray()).join(''));
  calls.push(ip ?? email);
  agents.add(request.headers['user-agent']);
  await held;
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({success: true, data: ip ? {country: 'DE'} : {is_valid: true, domain: 'example.com'}}));
});
await new Promise(resolve => server.listen(0, '127.0.0.1', resolve));
server.unref();
const baseUrl = 'http://127.0.0.1:' + server.address().port;
const env = {...process.env, BULK_ENRICH_BASE_URL: baseUrl, BULK_ENRICH_API_KEY: 'packed-key-1'};
const set = {ip: 'ip', rate: 'unlimited', store: false, score: 'none'};
const address = n => '203.0.' + (113 + (n >> 8)) + '.' + (n & 255);
const list = count => Array.from({length: count}, (_, n) => ({id: n, ip: address(n)}));
const say = (...told) => console.log(...told.map(one => typeof one === 'string' ? one : JSON.stringify(one)));
async function take(rows, settings, options) {
  const warned = [], taken = [];
  const onWarning = sentence => warned.push(sentence);
  try {
    for await (const row of enrich(rows, {...set, ...settings}, {env, onWarning, ...options})) taken.push(row);
    say(taken.length, calls.length, ...warned);
  } catch (error) {
    say(taken.length, calls.length, error.code ?? error.name, error.message, ...warned);
  }
}
`;

/** What a program does, its code, and what it prints. */
const programs: readonly (readonly [string, string, string | RegExp])[] = [
  [
    'a misspelled column of an array is refused before anything is sent; a program without calls and other work ends after it',
    `await take([{addr: address(1), email: 'a@example.com'}, {addr: address(2), email: 'b@example.com', x: 1}], {ip: 'addr', email: 'emial'});
     await take([{user: {email: 'a@example.com'}}, {user: null}], {ip: undefined, email: 'user.emial'});
     await take([{user: null}], {ip: undefined, email: 'user.email'});
     await take([{ip: address(1)}, {email: 'a@example.com'}], {email: 'email'});`,
    `0 0 unknown_column email: there is no column "emial" (columns: addr, email, x). Did you mean "email"?
0 0 unknown_column email: there is no column "user.emial" (columns: user).
1 0
2 2
`,
  ],
  [
    'of another source the first row without the column warns, and a hundred end the run; it never waits for a row',
    `function* rows(count) { for (const {ip} of list(count)) yield {addr: ip}; }
     await take(rows(99), {ip: ['addr', 'adr']});
     async function* endless() { yield* rows(1000); await new Promise(() => {}); }
     await take(endless(), {ip: ['addr', 'adr']});
     await take((async function* () { for (const {ip} of list(99)) yield {ip}; yield {ip: address(0), email: 'a@example.com'}; })(), {email: 'email'});
     const {value} = await enrich((async function* () { yield {addr: address(1)}; await new Promise(() => {}); })(), {...set, ip: ['addr', 'adr']}, {env, onWarning: say}).next();
     say(value.enrichment.addr.status);
     process.exit();`,
    `99 99 unknown_column ip: there is no column "adr" (columns: addr). Did you mean "addr"? ip: the first rows have nothing in "adr". Did you mean "addr"?
99 198 unknown_column ip: there is no column "adr" (columns: addr). Did you mean "addr"? ip: the first rows have nothing in "adr". Did you mean "addr"?
100 298 email: the first rows have nothing in "email".
ip: the first rows have nothing in "adr". Did you mean "addr"?
ok
`,
  ],
  [
    'wrong options are refused, of runs and of the client; console is a log',
    `const told = [], note = ({code, message}) => told.push(/^There is no/.test(message) ? message : code + ' ' + message.split(':')[0]);
     for (const options of [{log: {}}, {log: {info() {}}}, {log: 5}, {env: null}, {graceMs: '5'}, {graceMs: -1}, {onProgress: 1}, {onWarnin() {}}, null])
       await enrich(list(1), set, options && {env, ...options}).next().then(() => told.push('accepted'), note);
     console.info = (fields, message) => { if (fields.event === 'run_ended') told.push(message); };
     console.debug = say;
     await take(list(1), {}, {log: console});
     for (const more of [{maxConnections: -1}, {maxConnections: 'x'}, {maxBodyBytes: NaN}, {maxBodyBytes: 0}, {timeout: 5}, {timeoutMs: '5'}, {maxConnections: Infinity, maxBodyBytes: 1, timeoutMs: undefined}])
       try { createClient({baseUrl, apiKey: 'k', ...more}); told.push('accepted'); } catch (error) { note(error); }
     say(told.join('; '));`,
    `1 1
settings log; settings log; settings log; settings env; settings graceMs; settings graceMs; settings onProgress; There is no option "onWarnin". Did you mean "onWarning"?; settings Expected an object with options, such as {signal}.; run ended; settings maxConnections; settings maxConnections; settings maxBodyBytes; settings maxBodyBytes; There is no option "timeout". Did you mean "timeoutMs"?; timeout_invalid timeoutMs; accepted
`,
  ],
  [
    'without onWarning the process warns, once of each kind',
    `process.on('warning', ({name, code, message}) => say(name, code, message));
     for (const n of [1, 2]) {
       const rows = async function* () { yield {ip: address(n)}; yield {ip: address(n), email: n + '@example.com'}; };
       for await (const _ of enrich(rows(), {...set, email: 'email'}, {env}));
     }
     for (const store of ['/dev/null/a', '/dev/null/b']) for await (const _ of enrich([], {...set, store}, {env}));
     await delay(10);`,
    /^BulkEnrichWarning BULK_ENRICH_EMAIL_THE_FIRST_ROWS_HAVE_NOTHING email: the first rows have nothing in "email".\nBulkEnrichWarning BULK_ENRICH_THE_ANSWER_STORE_IN_CAN_T The answer store in \/dev\/null\/a can't be used.*\n$/,
  ],
  [
    'a run tells what it cost: at its end, when it stops, and on its way',
    `const told = [];
     const onProgress = one => told.push(one);
     const rows = enrich(list(3), set, {env, onProgress});
     let next = await rows.next();
     while (!next.done) next = await rows.next();
     say(next.value.credits.spent, next.value.rows.written, told.at(-1));
     try { for await (const _ of enrich(list(9), {...set, maxCredits: 4}, {env})); } catch (error) {
       say(error instanceof BulkEnrichError, error.code, error.summary.credits.spent, Object.keys(error).includes('summary'));
     }
     const controller = new AbortController();
     try { for await (const _ of enrich(list(9), set, {env, signal: controller.signal})) controller.abort(); } catch (error) {
       say(error.name, error.summary.credits.spent === calls.length - 7);
     }
     const stream = enrichStream(set, {env, onProgress});
     stream.once('summary', summary => say('stream', summary.credits.spent));
     stream.resume().end({ip: address(0)});
     await new Promise(resolve => stream.once('close', resolve));
     (await import('node:fs')).writeFileSync('in.csv', 'ip\\n' + address(1) + '\\n');
     say((await runJob({...set, input: 'in.csv', output: 'out.csv', force: true}, {env, onProgress})).summary.credits.spent, told.at(-1));
     const own = new Error('mine');
     const fail = () => { throw own; };
     const log = {error() {}, warn() {}, debug() {}, info: ({event}) => { if (event === 'run_ended') fail(); }};
     for (const options of [{env, onProgress: fail}, {env, log}]) {
       const failed = await enrich(list(1), set, options).next().then(() => 'row', error => error === own);
       say(failed, await enrich([], set, options).next().catch(error => error === own));
       say(await runJob({...set, input: 'in.csv', output: 'out2.csv', restart: true}, options).catch(error => error === own));
     }`,
    `3 3 {"rows":3,"calls":3,"credits":{"spent":3,"maybe_spent":0}}
true budget 4 false
AbortError true
stream 1
1 {"rows":1,"calls":1,"credits":{"spent":1,"maybe_spent":0}}
row true
true
row true
true
`,
  ],
  [
    'progress comes four times a second at most',
    `const at = [];
     held = delay(1200);
     for await (const _ of enrich(list(1), {...set, concurrency: 1}, {env, onProgress: () => at.push(performance.now())}));
     say(at.length >= 1 && at.every((time, n) => n < 4 || time - at[n - 4] >= 950));`,
    'true\n',
  ],
  [
    'one row object that comes again and again is refused',
    `const one = {};
     await take((function* () { for (const {ip} of list(5)) yield Object.assign(one, {ip}); })());
     await take((async function* () { for (const {ip} of list(5)) yield Object.assign(one, {ip}); })());
     let release;
     const taken = () => new Promise(resolve => { release = resolve; });
     const source = async function* () { for (const {ip} of list(3)) { const used = taken(); yield Object.assign(one, {ip}); await used; } };
     for await (const row of enrich(source(), set, {env})) { say(row.ip, row.enrichment.ip.status); release(); }`,
    /^1 1 settings rows: the row at index 1 is the same object as an earlier one .*\n1 2 settings rows: .*\n203.0.113.0 ok\n203.0.113.1 ok\n203.0.113.2 ok\n$/,
  ],
  [
    'rows asked for before return() come first; rows behind a refused one are not paid for',
    `const rows = enrich(list(500), set, {env});
     const ends = await Promise.all([rows.next(), rows.next(), rows.return()]);
     say(ends.map(({done, value}) => [done, value?.id]));
     calls.length = 0;
     await take([{ip: address(1)}, {ip: address(2), enrichment: 1}, ...list(600)]);
     await take([{ip: address(1)}, {get ip() { throw new Error('lazy'); }}, {ip: address(3)}]);
     await take((async function* () { yield {ip: address(1)}; yield {ip: address(2), enrichment: 1}; yield {ip: address(3)}; })());`,
    /^\[\[false,0\],\[false,1\],\[true,null\]\]\n1 1 column_clash .*\n1 2 Error lazy\n1 3 column_clash .*\n$/,
  ],
  [
    'reading ahead follows the consumer',
    `const counted = async (settings, count = 5000) => {
       calls.length = 0;
       let read = 0;
       const rows = async function* () { for (const row of list(count)) { read++; yield row; } };
       for await (const {id} of enrich(rows(), {...set, ...settings}, {env})) {
         if (id === 0) await delay(400);
         if (id === 300) { await delay(400); say(calls.length <= 301 + 36, read <= 301 + 37); break; }
         if (id === 0) say(calls.length <= 37, read <= 38);
       }
     };
     await counted({concurrency: 4});
     calls.length = 0;
     for await (const _ of enrich(list(5000), {...set, concurrency: 4}, {env})) { await delay(400); break; }
     say(calls.length <= 37);
     calls.length = 0;
     let taken = 0;
     for await (const _ of enrich(list(700), {...set, concurrency: 64}, {env})) taken++;
     say(taken, calls.length);`,
    'true true\ntrue true\ntrue\n700 700\n',
  ],
  [
    'a call of the client ends by its own time and signal, its wait for a connection counted',
    `const client = createClient({baseUrl, apiKey: 'k', maxConnections: 1});
     say(await client.ip(address(1), {timeoutMs: 5000}).then(({country}) => country), [...agents]);
     let open;
     held = new Promise(resolve => { open = resolve; });
     const controller = new AbortController();
     const first = client.send('ip', {ip: address(2)}, {signal: controller.signal});
     const second = await client.send('ip', {ip: address(3)}, {timeoutMs: 50});
     say(second.kind, second.code);
     const gone = await client.ip(address(4), {signal: AbortSignal.abort()}).catch(error => error);
     say(gone.name, gone.code, gone.attempt.kind);
     say(await client.verify({token: 't', actionId: 'a'}, {timeoutMs: 0}).catch(({code}) => code));
     say(await client.ip(address(4), {signal: 5}).catch(({message}) => message), await client.ip(address(4), {timeout: 5}).catch(({message}) => message));
     say(await client.send('ip', {pi: address(4)}).catch(({message}) => message), await client.verify({token: 't', actionId: 'a', emial: 'x'}).catch(({message}) => message));
     while (calls.length < 2) await delay(5);
     controller.abort();
     const {kind, code} = await first;
     say(kind, code, calls.length);
     open();
     const {signal} = new AbortController();
     process.on('warning', ({message}) => say(message));
     const all = createClient({baseUrl, apiKey: 'k'});
     await Promise.all(list(30).map(({ip}) => all.answer('ip', {ip}, {signal})));
     say(getEventListeners(signal, 'abort').length);
     client.close();
     all.close();`,
    `DE ["bulk-enrich/1.0.0"]
not_sent timeout
ClientError aborted not_sent
timeout_invalid
signal: expected an AbortSignal. There is no option "timeout". Did you mean "timeoutMs"?
There is no option "pi". Did you mean "ip"? There is no option "emial". Did you mean "email"?
ambiguous aborted 2
0
`,
  ],
  [
    'a row that is a Map is refused; one of a class with getters alone is read',
    `await take([new Map([['ip', address(1)]])]);
     await take((function* () { yield {ip: address(1)}; yield new Map([['ip', address(1)]]); })());
     class Signup { #ip = address(2); get ip() { return this.#ip; } get id() { return 1; } }
     await take([new Signup()]);
     await take([new Signup()], {ip: undefined});
     await take([new Signup()], {ip: 'ipp'});`,
    /^0 0 settings rows: the row at index 0 is a Map.*\n1 1 settings rows: the row at index 1 is a Map.*\n1 2\n1 3\n0 3 unknown_column .*\(columns: ip, id\). Did you mean "ip"\?\n$/,
  ],
  [
    'a fake Date alone stops nothing; numbers may be texts',
    `const now = Date.now();
     Date.now = () => now;
     await take(list(30), {rate: '200/s', maxCredits: '30', concurrency: '8', timeout: '5s'});`,
    '30 30\n',
  ],
];

// They wait for processes.
describe.concurrent('the packed package in an empty project', () => {
  test.each(programs)('%s', async (name, code, printed) => {
    const file = sandbox.write(`${name.replace(/\W+/g, '-')}.mjs`, BEGIN + code);
    const env = {PATH: process.env.PATH ?? '', HOME: sandbox.home};
    const run = promisify(execFile)(process.execPath, [file], {cwd: sandbox.directory, env});
    const {stdout, stderr} = await run.catch((error: {stdout: string; stderr: string}) => error);
    expect(stderr.replace(/^.*Warning.*\n|^\(Use `node --trace-warnings.*\n/gm, '')).toBe('');
    if (typeof printed === 'string') expect(stdout).toBe(printed);
    else expect(stdout).toMatch(printed);
  });
});

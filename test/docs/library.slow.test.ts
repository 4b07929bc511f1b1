import {execFile} from 'node:child_process';
import {readdirSync, readFileSync} from 'node:fs';
import {promisify} from 'node:util';
import {describe, expect, test} from 'vitest';
import type {Sandbox} from '../support/command.ts';
import {installed} from '../support/installed.ts';
import {blocksOf, root, textOf} from './blocks.ts';

const text = textOf('docs/library.md');

/** The sections that have an example: its heading, its code, and what stands under it. */
const examples = text
  .split(/^## /m)
  .filter(section => section.includes('```ts\n'))
  .map(section => ({
    heading: section.split('\n')[0] ?? '',
    code: blocksOf(section, 'ts')[0] ?? '',
    printed: blocksOf(section, 'text')[0] ?? '',
  }));

/** A program whose `import` becomes a `require`. */
const COMMONJS = `import {enrich} from 'bulk-enrich';
void (async () => {
  for await (const {enrichment: {ip}} of enrich([{ip: '192.0.2.1'}], {endpoint: 'embedded', ip: 'ip', store: false}))
    console.log(ip.status === 'ok' && ip.data.is_bogon);
})();`;

/** A program whose own declarations name the types of what it got. */
const DECLARING = `import {type BulkEnrichError, type ClientError, createClient, enrich, runJob, startService} from 'bulk-enrich';
import {ClientError as Alone, createClient as alone} from 'bulk-enrich/client';

export async function* scored<Row extends {readonly ip: string}>(rows: Iterable<Row>) {
  yield* enrich(rows, {ip: 'ip', rate: process.env['RATE'] ?? '20/s', endpoint: 'embedded'});
}
export const {stop, summary, found} = await runJob({input: 'list.csv', publishOn: ['outage']});
export const counted = stop?.counted;
export const service = await startService({answers: {ip: {'192.0.2.1': {is_vpn: true}}}});
export const ledger = service.ledger();
export const ofIps = ledger.operations.ip;
export const client = createClient({baseUrl: service.url, apiKey: service.apiKey});
export const attempt = await client.send('ip', {ip: '192.0.2.1'});
export const throttled = attempt.kind === 'throttled' ? attempt : undefined;
export const pace = throttled?.pace;
export const answered = await client.answer('email', {email: 'jo@example.com'}, {signal: AbortSignal.timeout(9)});
export const domain: string | undefined = answered.data.domain;
export const redeemed = attempt.kind === 'answered' && attempt.data.is_vpn;
export const both: typeof client = alone({baseUrl: service.url, apiKey: service.apiKey});
export const isOne = (error: ClientError): error is Alone => error instanceof Alone;
export const rows = enrich([{ip: '192.0.2.1'}], {ip: 'ip'}, {log: console, onProgress: ({credits}) => credits.spent});
export const end = await rows.next();
export const spent = end.done ? end.value.credits.spent : end.value.enrichment.ip.status;
export const costOf = (error: BulkEnrichError) => error.summary?.credits.spent;
export const data = await alone({baseUrl: service.url, apiKey: service.apiKey}).phone('+442079460018');
export const carrier: string | undefined = data.carrier;
export const patient = (ms: number | undefined, signal: AbortSignal | undefined) => [
  createClient({baseUrl: 'b', apiKey: 'k', timeoutMs: ms, maxConnections: ms, maxBodyBytes: ms}),
  runJob({input: 'list.csv'}, {graceMs: ms, signal, onWarning: undefined, onProgress: undefined, log: undefined}),
  startService({port: ms, credits: ms, maxConnections: ms}),
];
`;

/** Lines that must not compile, each with what the compiler says of it. */
const WRONG = [
  ["enrich(rows, {ip: 'ip', emial: 'mail'})", 'NoSuchSetting<"emial">'],
  ["enrich(rows, {ip: 'ip', quiet: true})", 'NoSuchSetting<"quiet">'],
  ["enrich(rows, {ip: 'ipp'})", `Type '"ipp"' is not assignable`],
  ["runJob({inptu: 'list.csv'})", `Did you mean to write 'input'?`],
  ['startService({prot: 80})', "'prot' does not exist in type 'ServiceOptions'"],
  ["createClient({baseUrl: 'b', apiKey: 'k', onUnasked() {}})", "'onUnasked' does not exist"],
  ["createClient({baseUrl: 'b', apiKey: 'k'}, () => {})", 'Expected 1 arguments, but got 2'],
  ["client.send('ip', {pi: '192.0.2.1'})", "'pi' does not exist"],
  ["client.send('verify', {token: 't', action_id: 'a', emial: 'e'})", "'emial' does not exist"],
  ["client.send('email', {email: 'e'}, {timeout: 5})", "'timeout' does not exist"],
  ["client.answer('verify', {token: 't', actionId: 'a'})", "'actionId' does not exist"],
  ["client.verify({token: 't', actionId: 'a', phone: 'p'})", "'phone' does not exist"],
  ["client.ip('192.0.2.1', {signl: AbortSignal.abort()})", "'signl' does not exist"],
  ["(await client.phone('+442079460018')).carier", "Did you mean 'carrier'?"],
  ["(await client.answer('ip', {ip: '192.0.2.1'})).data.contry", "Did you mean 'country'?"],
  ['new BulkEnrichError().remedy', "'remedy' does not exist"],
] as const;

/** Returns its output. */
async function node({directory, home}: Sandbox, ...args: readonly string[]): Promise<string> {
  // For the compiler: it has memory enough, and collecting garbage takes it a third of its time.
  const env = {PATH: process.env.PATH ?? '', HOME: home, GOGC: 'off'};
  const ended = promisify(execFile)(process.execPath, args, {cwd: directory, env});
  const {stdout} = await ended.catch(({stdout, stderr}) => {
    throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  });
  return stdout;
}

/** The declarations of a library are checked too, since the package's own must be complete. */
async function compile(sandbox: Sandbox, how: object): Promise<void> {
  // Looks for packages beside the link to the package, as if it were installed.
  const beside = {preserveSymlinks: true};
  const options = {target: 'es2022', strict: true, types: ['node'], rootDir: 'src', ...beside};
  sandbox.write('tsconfig.json', JSON.stringify({compilerOptions: {...options, ...how}, include: ['src']}));
  await node(sandbox, `${root}node_modules/typescript/bin/tsc`, '--singleThreaded');
}

// They wait for processes.
describe.concurrent('docs/library.md', () => {
  test('every example has its output, and every section has one at most', () => {
    expect(examples).toHaveLength(text.split('\n```ts\n').length - 1);
    for (const {heading, printed} of examples) expect(printed, heading).not.toBe('');
  });

  test('the examples compile with the installed package and print the shown output; CommonJS can require it', {
    timeout: 300_000,
  }, async () => {
    using sandbox = installed();
    sandbox.write('signups.csv', readFileSync(`${root}samples/signups.csv`));
    for (const [index, {code}] of examples.entries()) sandbox.write(`src/${index}.ts`, code);
    sandbox.write('src/required.cts', COMMONJS);
    await compile(sandbox, {module: 'nodenext', outDir: 'out'});
    for (const [index, {heading, printed}] of examples.entries())
      expect(await node(sandbox, `out/${index}.js`), heading).toBe(printed);
    expect(await node(sandbox, 'out/required.cjs')).toBe('true\n');
  });

  test('the command of the page compiles and runs its first example, as it is written', {
    timeout: 300_000,
  }, async () => {
    using sandbox = installed();
    sandbox.write('example.mts', examples[0]?.code ?? '');
    const {directory: cwd, home: HOME} = sandbox;
    const [, command = ''] = /^(npx tsc .*)$/m.exec(text) ?? [];
    const env = {PATH: process.env.PATH ?? '', HOME, npm_config_offline: 'true'};
    const {stdout} = await promisify(execFile)('sh', ['-c', command], {cwd, env});
    expect(stdout).toBe(examples[0]?.printed);
  });

  test('two files declare all that a program uses, in TypeScript of two ways to find packages', {
    timeout: 300_000,
  }, async () => {
    const written = readdirSync(`${root}dist`, {recursive: true, encoding: 'utf8'});
    expect(written.filter(name => /\.d\.[cm]?ts$/.test(name)).sort()).toEqual(['client.d.ts', 'index.d.ts']);
    using sandbox = installed([]);
    sandbox.write('src/main.ts', DECLARING);
    const how = {target: 'es2023', declaration: true, outDir: 'out', exactOptionalPropertyTypes: true};
    await compile(sandbox, {...how, module: 'nodenext'});
    await compile(sandbox, {...how, module: 'esnext', moduleResolution: 'bundler'});
    const wrong = WRONG.map(([line]) => `${line};\n`).join('');
    const names = 'BulkEnrichError, createClient, enrich, runJob, startService';
    const imports = `import {${names}} from 'bulk-enrich';`;
    const consts = `const rows = [{ip: '192.0.2.1'}], client = createClient({baseUrl: 'b', apiKey: 'k'});`;
    sandbox.write('src/main.ts', `${imports} ${consts}\n${wrong}`);
    const message = await compile(sandbox, {...how, module: 'nodenext'}).then(() => '', String);
    const told = message.split(/src\/main\.ts\((?=\d+)/).slice(1);
    const [numbers, texts] = [told.map(text => Number.parseInt(text, 10) - 2), told];
    for (const [index, [line, expected]] of WRONG.entries())
      expect(texts[numbers.indexOf(index)], line).toContain(expected);
    expect(numbers).toHaveLength(WRONG.length);
  });

  test('CommonJS has it in TypeScript of the settings that the page names', async () => {
    const [, named = ''] = /`module` (.*?) with/.exec(text) ?? [];
    const modules = [...named.matchAll(/`(\w+)`/g)].map(([, name]) => name);
    expect(modules.length).toBeGreaterThan(2);
    // The first is that of the examples, and those before the last resolve as these do.
    expect(modules[0]).toBe('nodenext');
    using sandbox = installed();
    sandbox.write('package.json', '{}');
    sandbox.write('src/main.ts', COMMONJS);
    await compile(sandbox, {module: modules.at(-1), moduleResolution: 'bundler', noEmit: true});
  });
});

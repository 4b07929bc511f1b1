import {statfsSync, statSync} from 'node:fs';
import {priceOf} from '../../columns/prices.ts';
import {checkWritable, existingPart} from '../../disk/directory.ts';
import {holderIn} from '../../disk/lock.ts';
import {userDirectoryTrouble} from '../../disk/user-directory.ts';
import {exitCodes, systemReason} from '../../errors.ts';
import {publicUrl} from '../../fleet/redis.ts';
import {fleetStatus} from '../../fleet/status.ts';
import {type Endpoint, resolveEndpoint} from '../../job/endpoint.ts';
import {inCredits} from '../../job/money.ts';
import {checkSettings, readJobFile} from '../../job/parse.ts';
import {dated, utcDate} from '../../job/paths.ts';
import {keyVariable} from '../../job/secrets/api-key.ts';
import {resolveRedisUrl} from '../../job/secrets/redis-url.ts';
import type {JobSettings} from '../../job/settings.ts';
import {defaultStoreDirectory} from '../../ledger/answers/store.ts';
import {perSecond} from '../../lookup/pace/rate-controller.ts';
import {scopeOf} from '../../run/identity.ts';
import {findAccount} from '../../run/open/account.ts';
import {callWithinAccount, openBudgets, type SingleCall} from '../../run/open/budgets.ts';
import {connectTo} from '../../run/open/connection.ts';
import {type Console, createConsole, isInteractive} from '../console.ts';
import {type Check, exitCodeOfAll, failed, failure, passed, skipped, warning} from '../doctor/check.ts';
import {checkNetwork} from '../doctor/network.ts';
import {cleaned, type JobFlags} from '../job-from-flags.ts';
import {painter} from '../terminal/colour.ts';
import {count, many, shellWord, shownWidth, widthOf, wrapped} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';

type DoctorFlags = JobFlags & {readonly call?: boolean; readonly json?: boolean};

/** `bulk-enrich doctor`: checks the set-up before a run. Only `--call` costs credits. */
export async function doctorCommand(flags: DoctorFlags): Promise<number> {
  const {output: out, job, call = false, json = false, ...given} = flags;
  const file = job === undefined ? undefined : readJobFile(job);
  const {output = './out.csv', ...settings} = checkSettings(file, cleaned({...given, output: out}));
  const console = createConsole(settings);
  const checks = [
    ...(await checkService(settings, call, console)),
    ...(await checkFleet(settings.fleet)),
    ...checkPaths(settings, output),
  ];
  if (json) printJson({checks});
  else print('stdout', render(checks));
  return exitCodeOfAll(checks);
}

async function checkService(settings: JobSettings, call: boolean, console: Console): Promise<Check[]> {
  let endpoint: Endpoint;
  try {
    endpoint = resolveEndpoint(
      settings.endpoint,
      settings.verdict?.action,
      process.env,
      isInteractive(),
      console,
    );
  } catch (error) {
    const first = 'fix the configuration first';
    return [failure('configuration', error), skipped('connection', first), skipped('call', first)];
  }
  const checks = [
    passed('configuration', describeEndpoint(endpoint)),
    ...keyFileCheck(),
    checkAccount(endpoint, settings, console),
  ];
  try {
    if (endpoint.kind === 'live') checks.push(...(await checkNetwork(endpoint.baseUrl, settings.timeout)));
    else checks.push(await dataCheck());
    const lookup: SingleCall = {endpoint, settings, operation: 'ip'};
    if (call && exitCodeOfAll(checks) === exitCodes.ok) checks.push(await callCheck(lookup, console));
    else if (call) checks.push(skipped('call', 'fix what failed first'));
    else if (endpoint.kind === 'live')
      checks.push(skipped('call', `the key was not tested; --call tests it (${priceIn(lookup)})`));
  } catch (error) {
    checks.push(failure('connection', error));
  }
  return checks;
}

/**
 * Warns if other users may use the key file. The group of a file of another user is how Kubernetes lets a container
 * read its Secret (root, 0440). Never warns on Windows, where file modes do not show this.
 */
function keyFileCheck(): Check[] {
  const path = process.env.BULK_ENRICH_API_KEY_FILE;
  const {mode, uid} = (path === undefined ? undefined : statSync(path, {throwIfNoEntry: false})) ?? {mode: 0};
  const others = uid === process.getuid?.() ? 0o077 : 0o007;
  if (process.platform === 'win32' || (mode & others) === 0) return [];
  return [warning('key file', `others on this machine may use ${path}: chmod 600 ${shellWord(path ?? '')}`)];
}

/** Describes the service and the length of its key. Never shows the key, nor any part of it. */
function describeEndpoint(endpoint: Endpoint): string {
  const action = endpoint.actionId === undefined ? 'no action id' : 'an action id';
  if (endpoint.kind === 'embedded')
    return `the embedded service${endpoint.byDefault ? ', as no other is configured' : ''}; ${action}`;
  return `${withoutUserinfo(endpoint.baseUrl)}; a key of ${endpoint.apiKey.length} characters (******) from ${keyVariable(process.env)}; ${action}`;
}

function withoutUserinfo(url: string): string {
  if (!URL.canParse(url)) return 'an invalid base URL';
  const parsed = new URL(url);
  return `${parsed.origin}${parsed.pathname}`;
}

function priceIn({operation, ...service}: SingleCall): string {
  return many(inCredits(priceOf(service)(operation)), 'credit');
}

/** Makes one real lookup of an address that is reserved for documentation. */
async function callCheck(call: SingleCall, console: Console): Promise<Check> {
  const {endpoint, settings} = call;
  console.say(
    endpoint.kind === 'embedded'
      ? 'Making one ip lookup: the embedded service is free.'
      : `Making one ip lookup, which costs ${priceIn(call)}.`,
  );
  const connection = await connectTo(endpoint, {timeoutMs: settings.timeout});
  try {
    const io = {env: process.env, now: Date.now, warn: console.warn};
    const answer = await callWithinAccount(call, io, () => connection.client.ip('192.0.2.1'));
    return passed('call', `ip 192.0.2.1 was answered with ${Object.keys(answer).length} fields`);
  } catch (error) {
    return failure('call', error);
  } finally {
    await connection.close();
  }
}

async function dataCheck(): Promise<Check> {
  const {describeLeftOut} = await import('../../service/start.ts');
  const missing = describeLeftOut();
  return missing === undefined
    ? passed('data', 'the embedded service has all its data sets')
    : warning('data', `the embedded service leaves out ${missing.fields.join(', ')}: ${missing.reason}`);
}

function checkPaths({state, store}: JobSettings, given: string): Check[] {
  const output = dated(given, utcDate(Date.now()));
  const own = output === '-' ? [] : [`${output}.run`];
  const [directory] = state === undefined ? own : [dated(state, utcDate(Date.now()))];
  return [
    output === '-' ? skipped('output', 'stdout needs no place') : checkPath('output', output, true),
    directory === undefined
      ? skipped('state', 'a run to stdout keeps none')
      : (lockCheck([...own, directory]) ?? checkPath('state', directory, true)),
    store === false ? skipped('store', '--no-store') : checkStore(store),
  ];
}

/** Fails if a run holds the lock of one of its directories: it may be under way, or a stopped process. */
function lockCheck(directories: readonly string[]): Check | undefined {
  const holder = directories.map(holderIn).find(found => found !== undefined);
  if (holder === undefined) return undefined;
  return failed(
    'state',
    `another run is writing this output: ${holder}; wait for it or end it`,
    exitCodes.locked,
  );
}

function checkStore(store: JobSettings['store']): Check {
  if (typeof store === 'string') return checkPath('store', store, false);
  const trouble = userDirectoryTrouble('cache', process.env);
  return trouble === undefined
    ? checkPath('store', defaultStoreDirectory(process.env), false)
    : warning('store', `${trouble.why}; runs work without it; set ${trouble.variable} to use one`);
}

const marks = {ok: 'ok', warning: 'WARNING', failed: 'FAILED', skipped: 'skipped'} as const;
const colours = {ok: 'green', warning: 'yellow', failed: 'red', skipped: undefined} as const;

function render(checks: readonly Check[]): string {
  const paint = painter(process.stdout, process.env);
  const painted = (state: Check['state']) => {
    const colour = colours[state];
    return colour === undefined ? marks[state] : paint(colour, marks[state]);
  };
  const heads = table(
    checks.map(({name, state}) => [name, painted(state)]),
    2,
  ).split('\n');
  const margin = Math.max(...heads.map(head => shownWidth(head))) + 2;
  const lines = checks.map(({detail}, at) => {
    const head = heads[at] ?? '';
    const parts = wrapped(detail, widthOf('stdout') - margin);
    return `${head}${' '.repeat(margin - shownWidth(head))}${parts.join(`\n${' '.repeat(margin)}`)}`;
  });
  return `${lines.join('\n')}\n\n${verdictOf(checks)}\n`;
}

/** The result of all checks in one sentence, with the next step. */
function verdictOf(checks: readonly Check[]): string {
  const named = (state: Check['state']) =>
    checks.filter(check => check.state === state).map(({name}) => name);
  const [failures, warnings] = [named('failed'), named('warning')];
  if (failures.length > 0)
    return `A run would fail here with exit code ${exitCodeOfAll(checks)}. Fix: ${failures.join(', ')}.`;
  const ifAccepted = named('skipped').includes('call') ? ', if the service accepts the key' : '';
  return `A run would work here${ifAccepted}.${warnings.length === 0 ? '' : ` Look at: ${warnings.join(', ')}.`}`;
}

/** Free space below which doctor warns. With less, even a modest list may fill the disk. */
const LITTLE_BYTES = 200 * 2 ** 20;

/** Checks write access and free space, without creating `path`. An error is a warning unless `needed` is true. */
function checkPath(name: string, path: string, needed: boolean): Check {
  try {
    checkWritable(path);
    const {bavail, bsize} = statfsSync(existingPart(path));
    const free = bavail * bsize;
    const room = `${path} can be written; ${Math.floor(free / 2 ** 20).toLocaleString('en-US')} MiB free`;
    return free < LITTLE_BYTES ? warning(name, `${room}, which is little`) : passed(name, room);
  } catch (error) {
    const detail = `${path} can't be written (${systemReason(error)})`;
    return needed ? failed(name, detail, exitCodes.output) : warning(name, `${detail}; runs work without it`);
  }
}

/** Checks the fleet that a run would use; empty if the run would make its calls itself. */
async function checkFleet(given: string | undefined): Promise<Check[]> {
  try {
    const url = resolveRedisUrl(given, '--fleet', process.env);
    return url === undefined ? [] : [await checkMembers(url, given)];
  } catch (error) {
    return [failure('fleet', error)];
  }
}

async function checkMembers(url: string, given: string | undefined): Promise<Check> {
  const {protocol, workers} = await fleetStatus(url);
  if (workers.length === 0)
    return warning(
      'fleet',
      `Redis at ${publicUrl(url)} answers, but no worker is running: bulk-enrich worker${given === undefined ? '' : ` --redis ${shellWord(publicUrl(url))}`}`,
    );
  const calls = workers.reduce((sum, {concurrency}) => sum + concurrency, 0);
  return passed(
    'fleet',
    `${many(workers.length, 'worker')} on ${publicUrl(url)} (${protocol ?? 'of unknown version'}), ${many(calls, 'call')} at once`,
  );
}

/** Shows the limits in the account's file, and the credits left. Fails if none are left. */
function checkAccount(endpoint: Endpoint, settings: JobSettings, {warn}: Console): Check {
  try {
    const account = findAccount(scopeOf(endpoint, settings), process.env);
    if (account === undefined)
      return passed('account', `"${settings.account}" has no account file, so no limits of its own`);
    const budgets = openBudgets(account, {env: process.env, now: Date.now, warn});
    const left = budgets.map(budget => ({
      period: budget.period,
      credits: inCredits(budget.left()),
      most: inCredits(budget.maxCredits),
    }));
    for (const budget of budgets) budget.close();
    const rate = account.rate && `at most ${many(perSecond(account.rate), 'call')} a second`;
    const limits = left.map(
      ({period, credits, most}) =>
        `${count(credits)} of ${many(most, 'credit')} left ${period === 'day' ? 'today' : 'this month'}`,
    );
    const detail = `${account.path}: ${[rate, ...limits].filter(Boolean).join(', ') || 'no limits'}`;
    return left.some(({credits}) => credits <= 0)
      ? failed('account', detail, exitCodes.credits)
      : passed('account', detail);
  } catch (error) {
    return failure('account', error);
  }
}

import {statfsSync, statSync} from 'node:fs';
import {
  checkWritable,
  nearestExistingPath,
  userDirectory,
  userDirectoryTrouble,
} from '../../disk/directory.ts';
import {findLockHolder, noLocks} from '../../disk/lock.ts';
import {hasLocks} from '../../disk/sqlite.ts';
import {exitCodes, systemReason} from '../../errors.ts';
import {publicUrl} from '../../fleet/redis.ts';
import {fleetStatus} from '../../fleet/status.ts';
import {type Endpoint, resolveEndpoint, resolveRedisUrl} from '../../job/endpoint.ts';
import type {Job} from '../../job/job.ts';
import {checkSettings, createSettingLocator, readJobFile} from '../../job/parse.ts';
import {fillDate, utcDate} from '../../job/paths.ts';
import {createOperationPricer, toCredits} from '../../job/settings/cost.ts';
import type {JobSettings} from '../../job/settings.ts';
import {perSecond} from '../../lookup/rate-limit.ts';
import {formatCount, pluralize} from '../../report/format.ts';
import {findAccount, openAccountBudget, refuseStrangeHost} from '../../run/open/account.ts';
import {answerScope} from '../../run/scope.ts';
import {shellWord} from '../../sentence.ts';
import {type Console, createConsole, isInteractive} from '../console.ts';
import {type JobFlags, withoutMissingFlags} from '../job-from-flags.ts';
import {formatTable, terminalWidth, wrapText} from '../terminal/lines.ts';
import {createPainter, print, printJson} from '../terminal/printable.ts';
import {
  type Check,
  checkNetwork,
  collectChecks,
  failedCheck,
  passedCheck,
  skippedCheck,
  warningCheck,
} from './doctor-checks.ts';
import {callOnce} from './lookup.ts';

type DoctorFlags = JobFlags & {readonly call?: boolean; readonly json?: boolean};

/** `bulk-enrich doctor`: checks the set-up before a run. Only `--call` costs credits. */
export async function doctorCommand(flags: DoctorFlags): Promise<number> {
  const {job, call = false, json = false, ...given} = flags;
  const file = job === undefined ? undefined : readJobFile(job);
  const raw = withoutMissingFlags(given);
  const placeOf = createSettingLocator(file, raw);
  const {output = './out.csv', ...settings} = checkSettings(file, raw, placeOf);
  const source = {fromFile: file !== undefined, placeOf};
  const checks = [
    ...(await checkService(settings, call, createConsole(settings), source)),
    ...(await collectChecks('fleet', () => checkFleet(settings.fleet))),
    ...checkPaths(settings, output),
  ];
  if (json) printJson({checks});
  else print('stdout', render(checks));
  return exitCodeOfAll(checks);
}

/** Exit code of the first failed check; 0 if no check failed. A run would fail at that check first, too. */
function exitCodeOfAll(checks: readonly Check[]) {
  return checks.find(({state}) => state === 'failed')?.exitCode ?? exitCodes.ok;
}

async function checkService(
  settings: JobSettings,
  call: boolean,
  console: Console,
  source: Pick<Job, 'fromFile' | 'placeOf'>,
): Promise<Check[]> {
  let found: Endpoint | undefined;
  const configured = await collectChecks('configuration', async () => {
    const action = settings.verdict?.action;
    found = resolveEndpoint(settings.endpoint, action, process.env, isInteractive(), console);
    refuseStrangeHost({...source, endpoint: found}, process.env);
    return [passedCheck('configuration', describeEndpoint(found)), ...keyFileCheck()];
  });
  const endpoint = found;
  if (endpoint === undefined) {
    const first = 'fix the configuration first';
    return [...configured, skippedCheck('connection', first), skippedCheck('call', first)];
  }
  const account = await collectChecks('account', async () => [checkAccount(endpoint, settings, console)]);
  const connection = await collectChecks('connection', async () =>
    endpoint.kind === 'live' ? checkNetwork(endpoint.baseUrl, settings.timeout) : [await dataCheck()],
  );
  const checks = [...configured, ...account, ...connection];
  const price = pluralize(toCredits(createOperationPricer({endpoint, settings})('ip')), 'credit');
  if (call && exitCodeOfAll(checks) !== exitCodes.ok)
    checks.push(skippedCheck('call', 'fix what failed first'));
  else if (call)
    checks.push(...(await collectChecks('call', () => callCheck(endpoint, settings, console, price))));
  else if (endpoint.kind === 'live')
    checks.push(skippedCheck('call', `the key was not tested; --call tests it (${price})`));
  return checks;
}

/** Warns if others may use the key file. In Kubernetes, a container gets root's Secret (0440) by its group. */
function keyFileCheck(): Check[] {
  const path = process.env.BULK_ENRICH_API_KEY_FILE ?? '';
  const {mode, uid} = statSync(path, {throwIfNoEntry: false}) ?? {mode: 0};
  const others = uid === process.getuid?.() ? 0o077 : 0o007;
  if (process.platform === 'win32' || (mode & others) === 0) return [];
  return [warningCheck('key file', `others on this machine may use ${path}: chmod 600 ${shellWord(path)}`)];
}

/** Describes the service and the length of its key. Never shows the key, nor any part of it. */
function describeEndpoint(endpoint: Endpoint): string {
  const action = endpoint.actionId === undefined ? 'no action id' : 'an action id';
  if (endpoint.kind === 'embedded')
    return `the embedded service${endpoint.byDefault ? ', as no other is configured' : ''}; ${action}`;
  const {baseUrl, apiKey, keyFrom} = endpoint;
  const {origin, pathname} = URL.canParse(baseUrl)
    ? new URL(baseUrl)
    : {origin: 'an invalid base URL', pathname: ''};
  return `${origin}${pathname}; a key of ${apiKey.length} characters (******) from ${keyFrom}; ${action}`;
}

/** Makes one real lookup of an address that is reserved for documentation. */
async function callCheck(
  endpoint: Endpoint,
  settings: JobSettings,
  console: Console,
  price: string,
): Promise<Check[]> {
  const cost = endpoint.kind === 'embedded' ? ': the embedded service is free' : `, which costs ${price}`;
  console.say(`Making one ip lookup${cost}.`);
  const request = {endpoint, settings, operation: 'ip'} as const;
  const {data} = await callOnce(request, console, client => client.answer('ip', {ip: '192.0.2.1'}));
  return [
    passedCheck('call', `ip 192.0.2.1 was answered with ${pluralize(Object.keys(data).length, 'field')}`),
  ];
}

async function dataCheck(): Promise<Check> {
  const {describeLeftOutFields} = await import('../../service/start.ts');
  const missing = describeLeftOutFields();
  return missing === undefined
    ? passedCheck('data', 'the embedded service has all its data sets')
    : warningCheck('data', `the embedded service leaves out ${missing.fields.join(', ')}: ${missing.reason}`);
}

function checkPaths({state, store}: JobSettings, given: string): Check[] {
  const [output = '', directory = `${output}.run`] = [given, state].map(
    path => path && fillDate(path, utcDate(Date.now())),
  );
  const toFile = output !== '-';
  return [
    toFile ? checkPath('output', output, true) : skippedCheck('output', 'stdout needs no place'),
    toFile || state !== undefined
      ? (lockCheck([...(toFile ? [`${output}.run`] : []), directory]) ?? checkPath('state', directory, true))
      : skippedCheck('state', 'a run to stdout keeps none'),
    store === false ? skippedCheck('store', '--no-store') : checkStore(store),
  ];
}

/** Fails if a run holds the lock of one of these directories, or if the last, which has the state, can have no lock. */
function lockCheck(directories: readonly string[]): Check | undefined {
  const place = nearestExistingPath(directories.at(-1) ?? '.');
  if (!hasLocks(place)) return failedCheck('state', String(noLocks(place)), exitCodes.output);
  const holder = directories.map(findLockHolder).find(found => found !== undefined);
  const detail = `another run is writing this output: ${holder}; wait for it or end it`;
  return holder === undefined ? undefined : failedCheck('state', detail, exitCodes.locked);
}

function checkStore(store: JobSettings['store']): Check {
  if (typeof store === 'string') return checkPath('store', store, false);
  const trouble = userDirectoryTrouble('cache', process.env);
  return trouble === undefined
    ? checkPath('store', userDirectory('cache', process.env), false)
    : warningCheck('store', `${trouble.why}; runs work without it; set ${trouble.variable} to use one`);
}

/** Free space below which doctor warns. With less, even a modest list may fill the disk. */
const LITTLE_BYTES = 200 * 2 ** 20;

/** Checks write access and free space, without creating `path`. An error is a warning unless `needed` is true. */
function checkPath(name: string, path: string, needed: boolean): Check {
  try {
    checkWritable(path);
    const {bavail, bsize} = statfsSync(nearestExistingPath(path));
    const free = bavail * bsize;
    const room = `${path} can be written; ${Math.floor(free / 2 ** 20).toLocaleString('en-US')} MiB free`;
    return free < LITTLE_BYTES ? warningCheck(name, `${room}, which is little`) : passedCheck(name, room);
  } catch (error) {
    const detail = `${path} can't be written (${systemReason(error)})`;
    return needed
      ? failedCheck(name, detail, exitCodes.output)
      : warningCheck(name, `${detail}; runs work without it`);
  }
}

/** Checks the fleet that a run would use; empty if the run would make its calls itself. */
async function checkFleet(given: string | undefined): Promise<Check[]> {
  const url = resolveRedisUrl(given, '--fleet', process.env);
  if (url === undefined) return [];
  const {protocol, workers} = await fleetStatus(url);
  const name = publicUrl(url);
  if (workers.length === 0) {
    const redis = given === undefined ? '' : ` --redis ${shellWord(name)}`;
    return [
      warningCheck('fleet', `Redis at ${name} answers, but no worker is running: bulk-enrich worker${redis}`),
    ];
  }
  const calls = workers.reduce((sum, {concurrency}) => sum + concurrency, 0);
  const members = `${pluralize(workers.length, 'worker')} on ${name} (${protocol ?? 'of unknown version'})`;
  return [passedCheck('fleet', `${members}, ${pluralize(calls, 'call')} at once`)];
}

/** Shows the limits in the account's file, and the credits left. Fails if none are left. */
function checkAccount(endpoint: Endpoint, settings: JobSettings, {warn}: Console): Check {
  let trouble: string | undefined;
  const account = findAccount(answerScope(endpoint, settings), process.env, sentence => {
    trouble = String(sentence);
  });
  if (trouble !== undefined) return warningCheck('account', trouble);
  if (account === undefined)
    return passedCheck('account', `"${settings.account}" has no account file, so no limits of its own`);
  const budget = openAccountBudget(account, {env: process.env, now: Date.now, warn});
  const left = budget?.limits.map(limit => toCredits(budget.left(limit))) ?? [];
  const limits = (budget?.limits ?? []).map(
    ({period, maxCredits}, at) =>
      `${formatLeft(left[at] ?? 0)} of ${pluralize(toCredits(maxCredits), 'credit')} left ${period === 'day' ? 'today' : 'this month'}`,
  );
  budget?.close();
  const rate = account.rate && `at most ${pluralize(perSecond(account.rate), 'call')} a second`;
  const detail = `${account.path}: ${[rate, ...limits].filter(Boolean).join(', ') || 'no limits'}`;
  return left.some(credits => credits <= 0)
    ? failedCheck('account', detail, exitCodes.credits)
    : passedCheck('account', detail);
}

/** Credits left; if other limits were in force when they were spent, `0 (844 over)`. */
function formatLeft(credits: number): string {
  return credits < 0 ? `0 (${formatCount(-credits)} over)` : formatCount(credits);
}

const MARKS = {ok: 'ok', warning: 'WARNING', failed: 'FAILED', skipped: 'skipped'} as const;
const COLOURS = {ok: 'green', warning: 'yellow', failed: 'red'} as const;

function render(checks: readonly Check[]): string {
  const paint = createPainter(process.stdout, process.env);
  const heads = formatTable([...checks.map(({name, state}) => [name, MARKS[state], '|'])], 2).split('\n');
  const margin = heads[0]?.indexOf('|') ?? 0;
  const lines = checks.map(({state, detail}, at) => {
    const mark = state === 'skipped' ? MARKS[state] : paint(COLOURS[state], MARKS[state]);
    const head = (heads[at] ?? '').slice(0, margin).replace(MARKS[state], () => mark);
    return `${head}${wrapText(detail, terminalWidth('stdout') - margin).join(`\n${' '.repeat(margin)}`)}`;
  });
  return `${lines.join('\n')}\n\n${verdictOf(checks)}\n`;
}

function verdictOf(checks: readonly Check[]): string {
  const named = (state: Check['state']) =>
    checks.filter(check => check.state === state).map(({name}) => name);
  const [failures, warnings] = [named('failed'), named('warning')];
  if (failures.length > 0)
    return `A run would fail here with exit code ${exitCodeOfAll(checks)}. Fix: ${failures.join(', ')}.`;
  const ifAccepted = named('skipped').includes('call') ? ', if the service accepts the key' : '';
  return `A run would work here${ifAccepted}.${warnings.length === 0 ? '' : ` Look at: ${warnings.join(', ')}.`}`;
}

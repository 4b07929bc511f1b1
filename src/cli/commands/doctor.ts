import {statSync} from 'node:fs';
import {userDirectoryTrouble} from '../../disk/user-directory.ts';
import {type Endpoint, resolveEndpoint} from '../../job/endpoint.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {keyVariable} from '../../job/secrets/api-key.ts';
import type {JobSettings} from '../../job/settings.ts';
import {ofOperation} from '../../job/values.ts';
import {defaultStoreDirectory} from '../../ledger/store/store.ts';
import {operations} from '../../operations/table.ts';
import {connectTo} from '../../run/open/connection.ts';
import {type Console, createConsole, isInteractive} from '../console.ts';
import {type Check, exitCodeOfAll, failure, passed, warning} from '../doctor/check.ts';
import {checkPlace} from '../doctor/directories.ts';
import {checkFleet} from '../doctor/fleet-check.ts';
import {checkCall, checkNetwork} from '../doctor/network.ts';
import {cleaned} from '../job-from-flags.ts';
import {type Paint, painter} from '../terminal/colour.ts';
import {count, shellWord} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';

type DoctorFlags = RawSettings & {
  readonly output?: string;
  readonly call?: boolean;
  readonly json?: boolean;
};

/** `bulk-enrich doctor`: would a run work from here? Nothing is charged, but for `--call`. */
export async function doctorCommand(flags: DoctorFlags): Promise<number> {
  const {output = './out.csv', call = false, json = false, ...given} = flags;
  const settings = checkSettings(undefined, cleaned(given));
  const console = createConsole(settings);
  const checks = [
    ...(await checkService(settings, call, console)),
    ...(await checkFleet(settings.fleet)),
    ...checkPlaces(settings, output),
  ];
  if (json) printJson({checks});
  else print('stdout', render(checks, painter(process.stdout, process.env)));
  return exitCodeOfAll(checks);
}

const NOT_CALLED = 'not made, so nobody knows whether the key is accepted; --call makes one';

async function checkService(settings: JobSettings, call: boolean, console: Console): Promise<Check[]> {
  let endpoint: Endpoint;
  try {
    endpoint = resolveEndpoint(settings.endpoint, settings.actionId, process.env, isInteractive(), console);
  } catch (error) {
    return [failure('configuration', error)];
  }
  const checks = [passed('configuration', describeEndpoint(endpoint)), ...keyFileCheck()];
  try {
    if (endpoint.kind === 'live') checks.push(...(await checkNetwork(endpoint.baseUrl, settings.timeout)));
    else checks.push(await dataCheck());
    if (call) checks.push(await callCheck(endpoint, settings, console));
    else if (endpoint.kind === 'live') checks.push(passed('call', NOT_CALLED));
  } catch (error) {
    checks.push(failure('connection', error));
  }
  return checks;
}

/** On Windows a file's mode says nothing of who may read it. */
function keyFileCheck(): Check[] {
  const path = process.env.BULK_ENRICH_API_KEY_FILE;
  const mode = path === undefined ? 0 : (statSync(path, {throwIfNoEntry: false})?.mode ?? 0);
  if (process.platform === 'win32' || (mode & 0o077) === 0) return [];
  return [warning('key file', `others on this machine may use ${path}: chmod 600 ${shellWord(path ?? '')}`)];
}

/** The key is never shown, nor any part of it. */
function describeEndpoint(endpoint: Endpoint): string {
  const action = endpoint.actionId === undefined ? 'no action id' : 'an action id';
  if (endpoint.kind === 'embedded')
    return `the embedded service${endpoint.byDefault ? ', as nothing else is configured' : ''}; ${action}`;
  return `${withoutUserinfo(endpoint.baseUrl)}; a key of ${endpoint.apiKey.length} characters (******) from ${keyVariable(process.env)}; ${action}`;
}

function withoutUserinfo(url: string): string {
  if (!URL.canParse(url)) return 'a base URL that is none';
  const parsed = new URL(url);
  return `${parsed.origin}${parsed.pathname}`;
}

async function callCheck(endpoint: Endpoint, settings: JobSettings, console: Console): Promise<Check> {
  const price = ofOperation(settings.cost, 'ip', operations.ip.cost);
  console.say(
    endpoint.kind === 'embedded'
      ? 'One ip lookup is made now; the embedded service is free.'
      : `One ip lookup is made now; it costs ${count(price)} credit${price === 1 ? '' : 's'}.`,
  );
  const connection = await connectTo(endpoint, {timeoutMs: settings.timeout});
  try {
    return await checkCall(connection.client);
  } finally {
    await connection.close();
  }
}

async function dataCheck(): Promise<Check> {
  const {describeLeftOut} = await import('../../service/start.ts');
  const missing = describeLeftOut();
  return missing === undefined
    ? passed('data', 'all data sets of the embedded service are there')
    : warning('data', `the embedded service leaves out ${missing.fields.join(', ')}: ${missing.reason}`);
}

function checkPlaces({state, store}: JobSettings, output: string): Check[] {
  return [
    ...(output === '-' ? [] : [checkPlace('output', output, true)]),
    checkPlace('state', state ?? `${output}.run`, true),
    ...(store === false ? [] : [checkStore(store)]),
  ];
}

function checkStore(store: JobSettings['store']): Check {
  if (typeof store === 'string') return checkPlace('store', store, false);
  const trouble = userDirectoryTrouble('cache', process.env);
  return trouble === undefined
    ? checkPlace('store', defaultStoreDirectory(process.env), false)
    : warning('store', `${trouble.why}; runs go on without it, unless ${trouble.variable} names a place`);
}

const marks = {ok: 'ok', warning: 'WARNING', failed: 'FAILED'} as const;
const colours = {ok: 'green', warning: 'yellow', failed: 'red'} as const;

function render(checks: readonly Check[], paint: Paint): string {
  const lines = checks.map(({name, state, detail}) => [name, paint(colours[state], marks[state]), detail]);
  return `${table(lines, 3)}\n`;
}

import {join} from 'node:path';
import {perOperation} from '../../../src/operations/table.ts';
import {ROOT, TEMPORARY} from '../world/patched-fs.ts';
import {
  costOf,
  type InputRow,
  isOfProgram,
  isStream,
  type RunSpec,
  type Sequence,
  startsFresh,
} from './commands.ts';

/** All places, and their names. */

const WORK = join(ROOT, 'work');
const HOME = join(ROOT, 'home');
const XDG_CACHE = join(HOME, 'cache');
const XDG_STATE = join(HOME, 'state');
const XDG_CONFIG = join(HOME, 'config');
/** Where keys stand that are renewed. */
export const keyDirectory = join(HOME, 'keys');
const ACCOUNTS = join(XDG_CONFIG, 'bulk-enrich', 'accounts');

/** Those that are there before anything runs; the user has made one of the states' directories. */
export const directories = [
  ...[WORK, HOME, TEMPORARY, XDG_CACHE, XDG_STATE, join(WORK, 'state2')],
  ...[keyDirectory, XDG_CONFIG, join(XDG_CONFIG, 'bulk-enrich'), ACCOUNTS],
];

export const accountPath = join(ACCOUNTS, 'first.yaml');
/** The second account has no limits. */
export const secondAccountPath = join(ACCOUNTS, 'second.yaml');
export const secondAccountText = () => `endpoint: ${endpoints[0]}\naccount: second\n`;

/** The history of all runs, and where lines wait for it. */
export const historyPath = join(XDG_STATE, 'bulk-enrich', 'runs.db');
export const waitingPath = join(XDG_STATE, 'bulk-enrich', 'runs.waiting');

export const inputPath = (input: number) => join(WORK, `list${input}.csv`);
const inputLink = (input: number) => join(WORK, `link${input}.csv`);
const cachePath = (cache: 'own' | 'other') =>
  cache === 'own' ? join(XDG_CACHE, 'bulk-enrich') : join(HOME, 'other-cache');
export const storePath = (cache: 'own' | 'other') => join(cachePath(cache), 'answers.db');

/** The checks see a stream's rows as the content of this file. */
const STREAM = join(ROOT, 'stream');

export function outputPath(spec: RunSpec): string {
  return isStream(spec) ? STREAM : namedOutput(spec);
}

/** The path by which a run's other files are named. A dated one has the day in it once the run has begun. */
function namedOutput({output, clash, input, packed, way, day = DATE}: RunSpec): string {
  if (clash === 'output') return inputPath(input);
  return outputFile('out', way === 'dated' ? `${output}-${day}` : output, packed);
}

const DATE = '{date}';
/** The day of a moment, by UTC. */
export const dayAt = (wallMs: number) => new Date(wallMs).toISOString().slice(0, 10);

/** As the command names it: by a link, at times. */
export function outputName(spec: RunSpec): string {
  if (isStream(spec)) return '-';
  const {linked, clash, output, packed} = spec;
  return linked && clash === undefined
    ? outputFile('to', output, packed)
    : namedOutput({...spec, day: undefined});
}

/** The lists of a run, in order: pipes, and what is named twice, are of one list. */
export function listsOf({input, clash, stdin, joined}: RunSpec): readonly number[] {
  return joined === true && clash === undefined && !stdin ? [input, 1 - input] : [input];
}

/** As the command names them; what is named twice is a file. */
export function inputNames(spec: RunSpec): string[] {
  const {clash, linked, stdin} = spec;
  if ((stdin || isOfProgram(spec)) && clash === undefined) return ['-'];
  return listsOf(spec).map(linked && clash === undefined ? inputLink : inputPath);
}

const outputFile = (stem: string, output: number | string, packed: boolean) =>
  join(WORK, `${stem}${output}.csv${packed ? '.gz' : ''}`);

/** The links and their targets. */
export const links: ReadonlyMap<string, string> = new Map(
  [0, 1].flatMap(n => [
    [inputLink(n), inputPath(n)] as const,
    ...[false, true].map(packed => [outputFile('to', n, packed), outputFile('out', n, packed)] as const),
  ]),
);

/**
 * A run that requires the store records no calls, so that sessions with a record follow others without one. What is named
 * twice is tested alone.
 */
export const recordsCalls = (spec: RunSpec) =>
  !spec.requireStore && spec.clash === undefined && !isOfProgram(spec);
export const metricsPath = (spec: RunSpec) => `${namedOutput(spec)}.prom`;
export const reportPath = (spec: RunSpec) => `${namedOutput(spec)}.report.md`;
export const callsPath = (spec: RunSpec) => `${namedOutput(spec)}.calls.ndjson`;

export function statePath(spec: RunSpec | {readonly state: 1 | 2}): string {
  return 'output' in spec && spec.state === 0 ? `${outputPath(spec)}.run` : join(WORK, `state${spec.state}`);
}

export const endpoints = ['https://one.example.com', 'https://two.example.com'] as const;
export const keys = ['key-of-the-first-account', 'key-of-the-second-account'] as const;

export const endpointOf = ({endpoint}: RunSpec) => endpoints[endpoint] ?? endpoints[0];
/** The accounts' first keys. A renewed one has its number behind. */
const keyOf = ({account}: {readonly account: number}) => keys[account] ?? keys[0];
export const keyPath = ({account}: {readonly account: number}) => join(keyDirectory, `${account}`);
export const renewedKey = (account: {readonly account: number}, nth: number) =>
  nth === 0 ? keyOf(account) : `${keyOf(account)}-${nth}`;

/** True for any key that the run's account has had. */
export const isKeyOf = (key: string, spec: RunSpec) => key.replace(/-\d+$/, '') === keyOf(spec);
export const accountOf = ({account}: RunSpec) => (account === 0 ? 'default' : 'second');

export function environmentOf(spec: RunSpec): Record<string, string> {
  return {
    BULK_ENRICH_BASE_URL: endpointOf(spec),
    ...(spec.keyFile ? {BULK_ENRICH_API_KEY_FILE: keyPath(spec)} : {BULK_ENRICH_API_KEY: keyOf(spec)}),
    XDG_CACHE_HOME: XDG_CACHE,
    XDG_STATE_HOME: XDG_STATE,
    XDG_CONFIG_HOME: XDG_CONFIG,
    HOME,
  };
}

const ips: Readonly<Record<number, string>> = {
  11: '192.0.2.111',
  12: '192.0.2.112',
  13: 'no address',
  14: '',
};
const emails: Readonly<Record<number, string>> = {7: 'bad@example.com', 8: 'nonsense'};
const tokens: Readonly<Record<number, string>> = {7: 'token-7-used', 8: ''};

/** Phone numbers as lists have them, each with its country, and as the service is asked for it. */
export const phones = [
  {cell: '(212) 555-0143', country: 'US', number: '+12125550143'},
  {cell: '020 7946 0018', country: 'GB', number: '+442079460018'},
  {cell: '+44 20 7946 0099', country: '', number: '+442079460099'},
  {cell: '212-555-0172', country: 'United States', number: '+12125550172'},
  {cell: '', country: 'US', number: ''},
  {cell: '12', country: 'US', number: 'no number'},
  // The same cell in two countries.
  {cell: '030 23125014', country: 'DE', number: '+493023125014'},
  {cell: '030 23125014', country: 'GB', number: '+443023125014'},
] as const;

/** A row's cells; a broken one has a cell too many. */
function cellsOf({ip, email, token, last = ip, phone = 0, broken}: InputRow, id: number): string[] {
  const {cell, country} = phones[phone] ?? phones[0];
  const cells = [
    `r${id}`,
    ips[ip] ?? `192.0.2.${ip}`,
    emails[email] ?? `user${email}@example.com`,
    tokens[token] ?? `token-${token}`,
    ips[last] ?? `192.0.2.${last}`,
    cell,
    country,
  ];
  return broken === true ? [...cells, 'one too many'] : cells;
}

export const HEADER = ['id', 'ip', 'email', 'token', 'last_ip', 'phone', 'country'];

/** The text of a list; no row of one has the name of a row of another. */
export function inputText(rows: readonly InputRow[], list: number): string {
  return [HEADER, ...rows.map((row, index) => cellsOf(row, 100 * list + index + 1))]
    .map(cells => `${cells.join(',')}\n`)
    .join('');
}

export function accountText({
  accountPerDay,
  accountPerMonth,
  accountRate,
}: Pick<Sequence, 'accountPerDay' | 'accountPerMonth' | 'accountRate'>): string {
  const limits = [
    ...(accountPerDay === undefined ? [] : [`max_credits_per_day: ${accountPerDay}`]),
    ...(accountPerMonth === undefined ? [] : [`max_credits_per_month: ${accountPerMonth}`]),
    ...(accountRate === undefined ? [] : [`rate: ${accountRate}/s`]),
  ];
  return [`endpoint: ${endpoints[0]}`, 'account: default', ...limits].join('\n');
}

export const REDIS_URL = 'redis://queue.example.com';

const columns = {ip: 'ip', email: 'email'} as const;

/** Prices as a command has them: one for all, or one for each operation. */
function costs(spec: RunSpec): Readonly<Record<string, number>> {
  return spec.prices === 'one' ? {all: spec.cost} : perOperation(name => costOf(spec, name));
}

export const LEVELS = {medium: 30, high: 70} as const;
export const RULES = [
  {when: 'ip.is_vpn', add: 40, reason: 'vpn'},
  {when: 'ip.country == "France"', add: 35, reason: 'france'},
] as const;

/** True for a run whose rows get a score, by their addresses. */
export function isScored({scored, columns}: RunSpec): boolean {
  return scored && columns.startsWith('ip');
}

const DAY_MS = 24 * 3_600_000;

/** False for a stream without a file for its rejects. */
export const keepsRejects = (spec: RunSpec) => !isStream(spec) || (spec.way === 'stdout' && spec.tells);

/** False for a program with rows of its own, and for a stream that names no state: no run resumes them. */
export const keepsState = (spec: RunSpec) => !isStream(spec) || (spec.way === 'stdout' && spec.state !== 0);

/** A stream has no name that others derive from: what is wanted beside it is named. */
function filesOfStream(spec: RunSpec): Record<string, string> {
  if (!isStream(spec)) return {};
  const summary = `${namedOutput(spec)}.summary.json`;
  if (keepsRejects(spec)) return {summary, rejects: `${namedOutput(spec)}.rejects.ndjson`};
  return spec.way === 'stdout' ? {} : {summary};
}

/** The settings as a command has them. */
export function settingsOf(begun: RunSpec, wallMs: number): Record<string, unknown> {
  // With {date} in its names.
  const spec = {...begun, day: undefined};
  const words = spec.columns.split(' ');
  const named = Object.fromEntries(words.filter(word => word in columns).map(word => [word, word]));
  const clash = {
    summary: {summary: inputPath(spec.input)},
    rejects: {rejects: inputPath(spec.input)},
    both: {rejects: join(WORK, 'beside.json'), summary: join(WORK, 'beside.json')},
    output: {},
    none: {},
  }[spec.clash ?? 'none'];
  return {
    ...named,
    ...(words.includes('last') && {ip: ['ip', 'last_ip']}),
    ...(words.includes('phone') && {phone: 'phone', country: 'country'}),
    ...(words.includes('email?') && {email: {column: 'email', when: 'ip.is_vpn'}}),
    ...(words.includes('token') && {verdict: {token: 'token', action: 'signup'}}),
    ...clash,
    ...filesOfStream(spec),
    ...(spec.daysAgo !== undefined && {date: dayAt(wallMs - spec.daysAgo * DAY_MS)}),
    ...(spec.state !== 0 && {state: statePath(spec)}),
    ...(spec.cache !== 'own' && {store: spec.cache === 'none' ? false : cachePath('other')}),
    ...(spec.maxCredits !== undefined && {maxCredits: spec.maxCredits}),
    ...(spec.maxErrors !== undefined && {maxErrors: spec.maxErrors}),
    ...(spec.until !== undefined && {until: spec.until}),
    ...(recordsCalls(spec) && {calls: callsPath(spec)}),
    ...(spec.tells && spec.clash === undefined && {metrics: metricsPath(spec), report: reportPath(spec)}),
    ...(spec.ndjson && {outputFormat: 'ndjson', flatten: true}),
    ...(spec.where && {where: 'row.id != "r2"'}),
    ...(spec.fromFile && {endpoint: 'live'}),
    ...(spec.stale && {stale: '30d'}),
    offline: spec.offline === true && spec.cache !== 'none',
    publishOn: spec.publishesAtLimit ? ['budget', 'deadline', 'outage'] : [],
    ...(startsFresh(spec) ? {restart: 'fresh'} : spec.restart && {restart: true}),
    force: spec.force,
    resends: spec.resends,
    maxAge: spec.maxAge,
    concurrency: spec.concurrency,
    rate: spec.rate,
    ...(spec.fleet && {fleet: REDIS_URL}),
    cost: {...costs(spec), rejected: spec.rejectedCharge},
    requireStore: spec.requireStore && spec.cache !== 'none',
    account: accountOf(spec),
    score: isScored(spec) ? {levels: LEVELS, rules: RULES} : 'none',
    timeout: '5s',
    maxOutage: '30s',
  };
}

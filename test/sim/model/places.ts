import {join} from 'node:path';
import {ROOT, TEMPORARY} from '../world/patched-fs.ts';
import type {InputRow, RunSpec} from './sequences.ts';

/** All places and names, and a run's settings. */

const WORK = join(ROOT, 'work');
const HOME = join(ROOT, 'home');
const CONFIG = join(HOME, 'config');
const ACCOUNTS = join(CONFIG, 'bulk-enrich', 'accounts');

export const directories = [
  ...[WORK, HOME, TEMPORARY, join(HOME, 'cache'), join(HOME, 'state')],
  ...[CONFIG, join(CONFIG, 'bulk-enrich'), ACCOUNTS],
];

export const ENDPOINT = 'https://risk.example.com';
export const FLEET = 'redis://fleet.example.com';
export const keys = ['key-of-the-first-account', 'key-of-the-second-account'] as const;
export const keyOf = ({account}: Pick<RunSpec, 'account'>) => keys[account] ?? keys[0];
const accounts = ['default', 'second'] as const;

/** The files of both accounts; only the first one's limit is ever reached. */
export function accountFiles(perDay: number): readonly (readonly [string, string])[] {
  return accounts.map((account, nth) => [
    join(ACCOUNTS, `${account}.yaml`),
    `endpoint: ${ENDPOINT}\naccount: ${account}\nmax_credits_per_day: ${nth === 0 ? perDay : 1_000_000}\n`,
  ]);
}

export const inputPath = (input: number) => join(WORK, `list${input}.csv`);
const stemOf = ({way, output}: RunSpec) => join(WORK, `${way === 'file' ? 'out' : 'rows'}${output}`);
/** Rows of a program are compared as if they were in this file. */
export const outputPath = (spec: RunSpec) => `${stemOf(spec)}.csv`;
export const summaryPath = (spec: RunSpec) => `${stemOf(spec)}.summary.json`;
export const rejectsPath = (spec: RunSpec) => `${stemOf(spec)}.rejects.ndjson`;

export const HEADER = ['id', 'ip', 'email', 'token', 'last_ip'];

/** Values that the service refuses, and values that can't be looked up. */
const ips: Readonly<Record<number, string>> = {
  11: '192.0.2.111',
  12: '192.0.2.112',
  13: 'no address',
  14: '',
};
const emails: Readonly<Record<number, string>> = {7: 'bad@example.com', 8: 'nonsense'};

/** True for values that the service always refuses. */
export const isRefused = (value: string) => /^192\.0\.2\.1\d\d$|bad/.test(value);
export const canBeLookedUp = (value: string) => !['', 'no address', 'nonsense'].includes(value);

/** A row's cells; a broken one has one too many. */
function cellsOf({ip, last, email, broken}: InputRow, id: string): string[] {
  const ipOf = (number: number) => ips[number] ?? `192.0.2.${number}`;
  const token = ip === 14 ? '' : `token-${id}`;
  const cells = [id, ipOf(ip), emails[email] ?? `user${email}@example.com`, token, ipOf(last)];
  return broken === true ? [...cells, 'one too many'] : cells;
}

export function inputText(rows: readonly InputRow[], input: number): string {
  return [HEADER, ...rows.map((row, index) => cellsOf(row, `r${100 * input + index + 1}`))]
    .map(cells => `${cells.join(',')}\n`)
    .join('');
}

/** An input's rows, and the lines that can't be read. */
export function recordsOf(text: string): {
  readonly rows: readonly string[];
  readonly broken: readonly string[];
} {
  const lines = text.split('\n').slice(1, -1);
  const isRow = (line: string) => line.split(',').length === HEADER.length;
  return {rows: lines.filter(isRow), broken: lines.filter(line => !isRow(line))};
}

export function environmentOf(spec: RunSpec): Record<string, string> {
  return {
    BULK_ENRICH_BASE_URL: ENDPOINT,
    BULK_ENRICH_API_KEY: keyOf(spec),
    XDG_CACHE_HOME: join(HOME, 'cache'),
    XDG_STATE_HOME: join(HOME, 'state'),
    XDG_CONFIG_HOME: CONFIG,
    HOME,
  };
}

const times = {ip: 1, phone: 2, email: 3, verify: 2} as const;
export type Operation = keyof typeof times;

/** Credits of a call. */
export function costOf({cost, prices}: RunSpec, operation: Operation): number {
  return Math.round(cost * 1_000 * (prices === 'one' ? 1 : times[operation])) / 1_000;
}

/** Longest time for which the run waits for calls in flight when it stops: longer than any call takes. */
export const GRACE_MS = 10_000;
export const TIMEOUT_MS = 5_000;

/** The settings of `runJob` and `enrich`. */
export function settingsOf(spec: RunSpec): Record<string, unknown> {
  const words = spec.columns.split(' ');
  const isFile = spec.way === 'file';
  return {
    ...(words.includes('ip') && {ip: words.includes('last') ? ['ip', 'last_ip'] : 'ip'}),
    ...(words.includes('email') && {email: 'email'}),
    ...(words.includes('email?') && {email: {column: 'email', when: 'ip.is_vpn'}}),
    ...(words.includes('token') && {verdict: {token: 'token', action: 'signup'}}),
    ...(isFile && {input: inputPath(spec.input), output: outputPath(spec), force: spec.force}),
    ...(!isFile && {summary: summaryPath(spec)}),
    ...(!spec.store && {store: false}),
    ...(spec.maxCredits !== undefined && {maxCredits: spec.maxCredits}),
    ...(spec.until !== undefined && {until: spec.until}),
    publishOn: spec.publishesAtLimit ? ['budget', 'deadline', 'outage'] : [],
    resends: spec.resends,
    ...(spec.restart && {restart: true}),
    maxAge: spec.maxAge,
    concurrency: spec.concurrency,
    rate: spec.rate,
    cost: {
      ...Object.fromEntries((Object.keys(times) as Operation[]).map(name => [name, costOf(spec, name)])),
      rejected: spec.rejectedCharge,
    },
    account: accounts[spec.account] ?? accounts[0],
    // The workers have the key of the first account.
    ...(spec.fleet && spec.account === 0 && {fleet: FLEET}),
    score: 'none',
    timeout: `${TIMEOUT_MS / 1_000}s`,
    maxOutage: '30s',
  };
}

import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {BulkEnrichError} from '../../../src/errors.ts';
import {runJob} from '../../../src/library/run-job.ts';
import type {Summary} from '../../../src/report/summary.ts';
import {Databases} from '../../sim/world/databases.ts';
import {Disk} from '../../sim/world/disk.ts';
import {Files} from '../../sim/world/files.ts';
import {install} from '../../sim/world/install.ts';
import {ROOT, TEMPORARY} from '../../sim/world/patched-fs.ts';
import {type Fate, Process} from '../../sim/world/process.ts';
import {World} from '../../sim/world/world.ts';
import {type Call, ServiceCore} from '../../support/api-core.ts';
import {type AtSocket, postTo, refusedConnection} from '../../support/api-memory.ts';
import {type Reply, reply} from '../../support/api-server-reply.ts';

/** Plays nights in virtual time: real code behind `runJob`, a scripted service, a disk in memory. */

/** A night: in nights.txt, what is between its name and its result. */
export interface Night {
  /** Values by their letters, in the order of rows; `-` is an empty cell, a longer word stands for itself. */
  readonly list: string;
  readonly column?: 'ip' | 'email' | 'token';
  /**
   * For each value the service's replies, in their order (`*`: in one order for all others together): a status, with a code behind `=` and Retry-After behind a
   * slash; `ok`, with its seconds behind a slash; `quotaN`, an answer with N calls left for the seconds behind its slash;
   * `reset`, `late`, `refuse` (no connection), `garbled`, `empty` (no field), `poor` (none that rules read), `stale` (401, `invalid_token`). Then all is `ok`.
   */
  readonly script?: string;
  /** Calls that the service lets through in a second; it answers the others with 429 and `Retry-After: 1`. */
  readonly limit?: number;
  readonly settings?: object;
  /** One session if left out. */
  readonly sessions?: readonly Session[];
}

/** The same command again, at times with another list or other settings. */
export interface Session {
  readonly list?: string;
  readonly column?: 'ip' | 'email' | 'token';
  readonly output?: string;
  readonly settings?: object;
  readonly afterHours?: number;
  /** Killed when its n-th call leaves: `before` (it is reserved only), or `after` (it is in flight). */
  readonly kill?: readonly ['before' | 'after', number];
}

const WORK = join(ROOT, 'work');
const HOME = join(ROOT, 'home');
const KEY = 'key-of-the-night';
const LATENCY_MS = 100;

interface Sent {
  readonly value: string;
  readonly atMs: number;
}

/** What one word of a script stands for. */
function replyTo(word: string): Reply {
  const [named = '', after] = word.split('/');
  const [kind = '', code = `code_${kind}`] = named.split('=');
  if (kind === 'ok') return reply.ok(after === undefined ? {} : {delayMs: Number(after) * 1_000});
  const [, left] = /^quota(\d+)$/.exec(kind) ?? [];
  if (left !== undefined)
    return reply.ok({headers: {'X-RateLimit-Remaining': String(left), 'X-RateLimit-Reset': String(after)}});
  if (kind === 'reset') return reply.drop();
  if (kind === 'late') return reply.stall();
  if (kind === 'stale') return reply.unauthorized();
  if (kind === 'garbled') return reply.json('no object');
  if (kind === 'empty') return reply.json({success: true, data: {}});
  if (kind === 'poor') return reply.json({success: true, data: {city: 'Oslo'}});
  const headers = after === undefined ? {} : {headers: {'Retry-After': after}};
  return Number(kind) === 200 && named !== kind
    ? reply.json({success: false, message: code})
    : reply.error(Number(kind), code, headers);
}

/** The test service with a script of one word a call. It hears of no call without a connection. */
class Service {
  readonly calls: Sent[] = [];
  readonly core: ServiceCore;
  readonly #script: Map<string, string[]>;
  readonly #world: World;
  #startMs = 0;
  #callsBefore = 0;
  #kill: Session['kill'];

  constructor({script = '', limit}: Night, world: World) {
    this.#world = world;
    const lines = script.split(';').map(line => line.trim().split(/:? +/));
    this.#script = new Map(lines.map(([value = '', ...words]) => [value, words]));
    this.core = new ServiceCore({
      key: KEY,
      latencyMs: LATENCY_MS,
      script: call => this.#scripted(call),
      ...(limit === undefined ? {} : {limit: {perSecond: limit}}),
    });
  }

  begin({kill}: Session): void {
    this.#startMs = this.#world.nowMs;
    this.#callsBefore = this.calls.length;
    this.#kill = kill;
  }

  #dieIfDue(): void {
    const {current} = this.#world;
    if (current === undefined || this.#kill === undefined) return;
    const [moment, nth] = this.#kill;
    if (this.calls.length - this.#callsBefore + 1 === nth)
      current.fate = {how: 'kill', step: current.steps + 1, moment};
  }

  post(url: URL, text: string, timeoutMs: number) {
    this.#dieIfDue();
    let said: AtSocket = refusedConnection;
    this.#world.step('ask', () => {
      const {nowMs} = this.#world;
      const {ip, email, token} = JSON.parse(text) as Record<string, string>;
      const value = nameOf(ip ?? token ?? email ?? '');
      this.calls.push({value, atMs: nowMs - this.#startMs});
      const words = this.#wordsFor(value);
      if (words?.[0] === 'refuse') words.shift();
      else said = postTo(this.core, {url, text, timeoutMs, nowMs});
    });
    const {afterMs = LATENCY_MS, result} = said;
    return new Promise<ReturnType<typeof result>>(resolve => {
      this.#world.poll(afterMs, () => resolve(result(afterMs)));
    });
  }

  /** The n-th call for a value gets the n-th word of its line; later ones are answered. A star stands for all values. */
  #wordsFor(value: string): string[] | undefined {
    return this.#script.get(value) ?? this.#script.get('*');
  }

  #scripted({value}: Call): Reply | undefined {
    const word = this.#wordsFor(nameOf(value))?.shift();
    return word === undefined ? undefined : replyTo(word);
  }
}

/** Values have one letter in tables: addresses, mailboxes and tokens of it. */
const valueFor: Readonly<Record<string, (name: string) => string>> = {
  ip: name => `203.0.113.${name.charCodeAt(0)}`,
  email: name => `${name}@example.com`,
  token: name => `token-${name}`,
};

function nameOf(value: string): string {
  if (value.startsWith('203.0.113.')) return String.fromCharCode(Number(value.slice(10)));
  return value.startsWith('token-') ? value.slice(6) : value.slice(0, 1);
}

function listOf(names: string, column: string): string {
  const valueIn = valueFor[column] ?? (() => '');
  const cells = names.split(' ').map(name => (name === '-' ? '' : name.length > 1 ? name : valueIn(name)));
  return `id,${column}\n${cells.map((cell, index) => `${index + 1},${cell}\n`).join('')}`;
}

/** A disk and a service, for the sessions of one night. */
export class NightWorld {
  readonly world = new World(1, true);
  readonly disk = new Disk(ROOT);
  readonly service: Service;
  readonly #night: Night;
  readonly #close: () => void;

  constructor(night: Night) {
    const {world, disk} = this;
    this.#night = night;
    const service = new Service(night, world);
    this.service = service;
    const databases = new Databases(disk, world, {opened() {}, written() {}});
    for (const path of [WORK, HOME, TEMPORARY]) disk.makeDirectory(path);
    const network = ({timeoutMs}: {readonly timeoutMs: number}) => ({
      post: (url: URL, body: string) => service.post(url, body, timeoutMs),
      close() {},
    });
    const restore = install(world, {files: new Files(disk, world), databases, network});
    this.#close = () => {
      restore();
      databases.close();
    };
  }

  /** Plays a session: its calls with seconds, its rows, its credits and its exit code. */
  async play(session: Session, fate?: Fate): Promise<string> {
    const {world, disk, service} = this;
    const night = this.#night;
    world.stall((session.afterHours ?? 0) * 3_600_000);
    service.begin(session);
    const before = service.calls.length;
    const column = session.column ?? night.column ?? 'ip';
    const list = join(WORK, 'list.csv');
    const file = disk.files.get(list) ?? disk.create(list, 0o644);
    file.data = Buffer.from(listOf(session.list ?? night.list, column));
    disk.syncAll();
    const output = join(WORK, `${session.output ?? 'out'}.csv`);
    const settings = {
      ...(column === 'token' ? {verdict: {token: 'token', action: 'signup'}} : {[column]: column}),
      ...{input: list, output, rate: 'unlimited', concurrency: 1, score: 'none', timeout: '5s', force: true},
      ...night.settings,
      ...session.settings,
    };
    const process = new Process('night', fate);
    let told = '';
    const main = async () => {
      const summary = await ended(settings);
      told = `${statuses(output, column)} | ${summary}`;
    };
    await world.run([{process, main, afterMs: 0}]);
    const end = process.killed ? 'killed' : told;
    return `${shown(service.calls.slice(before))} | ${end}`;
  }

  /** A file of the working directory; undefined if it does not exist. */
  read(name: string): string | undefined {
    return this.disk.files.get(join(WORK, name))?.data.toString();
  }

  close(): void {
    this.#close();
  }
}

/** What a night came to: each of its sessions, and the credits that the service took. */
export async function play(night: Night): Promise<string> {
  const world = new NightWorld(night);
  try {
    const told: string[] = [];
    for (const session of night.sessions ?? [{}]) told.push(await world.play(session));
    return `${told.join(' // ')} | ${world.service.core.ledger.credits}`;
  } finally {
    world.close();
  }
}

/** Long lists are told by their counts. */
const LONG = 40;

/** Each call with its second; of many, how many there were in each second. */
function shown(calls: readonly Sent[]): string {
  if (calls.length <= LONG)
    return calls.map(({value, atMs}) => `${value}${Math.round(atMs / 10) / 100}`).join(' ') || 'none';
  const counts = Array.from({length: Math.floor((calls.at(-1)?.atMs ?? 0) / 1_000) + 1}, () => 0);
  for (const {atMs} of calls) counts[Math.floor(atMs / 1_000)] = (counts[Math.floor(atMs / 1_000)] ?? 0) + 1;
  return `${calls.length} calls, in each second ${counts.join(' ')}`;
}

/** Spent and perhaps spent of the run, and the exit code. */
async function ended(settings: object): Promise<string> {
  const env = {BULK_ENRICH_BASE_URL: 'https://risk.example.com', BULK_ENRICH_API_KEY: KEY, HOME};
  try {
    const {exitCode, stop, summary} = await runJob(settings as never, {env, graceMs: 10_000, onWarning() {}});
    return `${books(summary)} | ${exitCode}${stop === undefined ? '' : ` ${stop.reason}`}`;
  } catch (error) {
    if (!(error instanceof BulkEnrichError)) throw error;
    return `no books | ${error.exitCode} ${error.code}`;
  }
}

function books(summary: Summary | undefined): string {
  if (summary === undefined) return 'no books';
  const {spent, maybe_spent: maybe} = summary.credits;
  return maybe === 0 ? String(spent) : `${spent}+${maybe}`;
}

/** Each row's error, or else its status. A question mark: its status is `unknown`. */
function statuses(output: string, column: string): string {
  if (!existsSync(output)) return 'no output';
  const [header = '', ...lines] = readFileSync(output, 'utf8').split('\n').slice(0, -1);
  const names = header.split(',');
  const prefix = column === 'token' ? 'verdict' : column;
  const cellOf = (line: string, name: string) => line.split(',')[names.indexOf(`${prefix}_${name}`)] ?? '';
  const said = lines.map(line => {
    const status = cellOf(line, 'status');
    const redeemed = cellOf(line, 'redeemed') === 'true' ? ' redeemed' : '';
    return `${cellOf(line, 'error') || status}${status === 'unknown' ? '?' : ''}${redeemed}`;
  });
  if (said.length <= LONG) return said.join(' ');
  return [...new Set(said)].map(one => `${said.filter(other => other === one).length} ${one}`).join(', ');
}

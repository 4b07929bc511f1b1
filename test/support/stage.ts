import {join} from 'node:path';
import {PassThrough, Readable} from 'node:stream';
import {pino} from 'pino';
import {expect} from 'vitest';
import {readFileText} from '../../src/disk/path.ts';
import {BulkEnrichError, exitCodes} from '../../src/errors.ts';
import {resolveJob} from '../../src/job/job.ts';
import {checkSettings, createSettingLocator, type RawSettings} from '../../src/job/parse.ts';
import {makeRunRecord} from '../../src/report/run-record.ts';
import type {Summary} from '../../src/report/summary.ts';
import {readRunSummaries} from '../../src/run/end/history.ts';
import type {RunOutcome} from '../../src/run/exit.ts';
import type {RunIo} from '../../src/run/io.ts';
import {run} from '../../src/run/run.ts';
import type {Session} from '../../src/run/session.ts';
import {Stopper} from '../../src/run/stop.ts';
import type {ApiServerOptions} from './api-server.ts';
import {keepFiles} from './command.ts';
import {openArena} from './crash.ts';

export type Stage = Awaited<ReturnType<typeof openStage>>;

export interface StageOptions extends Partial<Pick<RunIo, 'now' | 'phase' | 'storePatienceMs' | 'stillMs'>> {
  /** Run as a job file's job, which names its endpoint. */
  readonly fromFile?: boolean;
  readonly name?: string;
  readonly stdin?: string | Readable;
  readonly env?: Readonly<Record<string, string>>;
  readonly stopper?: Stopper;
  readonly watch?: (session: Session) => void;
  readonly warned?: (sentence: string) => void;
}

/** How a run ended, as the command's caller sees it. */
export interface Ended {
  readonly code: number;
  /** The stable code of the error that was thrown; undefined if none was. */
  readonly errorCode?: string;
  readonly message: string;
  /** True if an earlier run had done all of it. */
  readonly found?: RunOutcome['found'] | undefined;
  readonly warnings: readonly string[];
  /** As it stands in its file; undefined where there is none. */
  readonly summary: Summary | undefined;
  readonly stdout: string;
}

/**
 * A directory, a home and a server, in which runs are made from this process: many of them in little time. `list`: text
 * of `list.csv`.
 */
export async function openStage({
  list,
  ...options
}: Partial<ApiServerOptions> & {list?: string | Uint8Array} = {}) {
  const {api, sandbox, env: service, ...arena} = await openArena(options);
  const {directory, home, path, write, read} = sandbox;
  if (list !== undefined) write('list.csv', list);
  const env: Readonly<Record<string, string>> = {
    ...service,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_STATE_HOME: join(home, 'state'),
    XDG_CONFIG_HOME: join(home, 'config'),
  };
  /** Runs until the service has its n-th call from now on, and stops then as at a signal. */
  const stopAt = async (call: number, settings: RawSettings, given?: StageOptions, then = () => {}) => {
    const stopper = new Stopper();
    const nth = api.ledger.calls + call;
    api.setScript(one => {
      if (one.call !== nth) return undefined;
      then();
      interrupt(stopper);
      return undefined;
    });
    const ended = await runOn(directory, env, settings, {...given, stopper});
    api.setScript(undefined);
    return ended;
  };
  return {
    ...arena,
    ...{api, directory, env, path, write, read, stopAt},
    /** Writes an account's file, in which `URL` stands for the service; returns its path. */
    account: (name: string, text: string) =>
      write(`../home/config/bulk-enrich/accounts/${name}`, text.replace('URL', api.url)),
    run: (settings: RawSettings, given?: StageOptions) => runOn(directory, env, settings, given),
    /** Runs until the service has its `call`th call, too; afterwards all files are as a kill at that moment leaves them. */
    async killAt(call: number, settings: RawSettings, given?: StageOptions) {
      let killed = () => {};
      await stopAt(call, settings, given, () => {
        killed = keepFiles(sandbox);
      });
      killed();
    },
    /** The runs in the history, in the order of their ends. */
    history() {
      const warn: RunIo['warn'] = sentence => expect.fail(String(sentence));
      return readRunSummaries({env, warn}).map(makeRunRecord);
    },
  };
}

async function runOn(
  directory: string,
  service: Readonly<Record<string, string>>,
  raw: RawSettings,
  {stdin = '', stopper = new Stopper(), watch, warned, env: more, ...given}: StageOptions = {},
): Promise<Ended> {
  const {fromFile = false, name, ...io} = given;
  const env = {...service, ...more};
  const warnings: string[] = [];
  const stdout = new PassThrough();
  const text = stdout.toArray();
  let summaryPath: string | undefined;
  const ended = async (end: Pick<Ended, 'code' | 'errorCode' | 'message' | 'found'>): Promise<Ended> => {
    const summary = readSummary(summaryPath);
    stdout.end();
    return {...end, warnings, summary, stdout: Buffer.concat((await text) as Buffer[]).toString()};
  };
  try {
    const job = jobOf(directory, env, raw, {fromFile, name});
    summaryPath = job.paths.summary;
    const warn = (sentence: unknown) => {
      warnings.push(String(sentence));
      warned?.(String(sentence));
    };
    const all = {
      stdin: typeof stdin === 'string' ? Readable.from([Buffer.from(stdin)]) : stdin,
      ...{env, stdout, now: Date.now, random: Math.random, log: pino({level: 'silent'}), warn, ...io},
    };
    const watched = (session: Session) => {
      watch?.(session);
      return () => {};
    };
    const {exitCode: code, message, found} = await run(job, all, stopper, watched);
    return await ended({code, message: String(message), found});
  } catch (error) {
    if (!(error instanceof BulkEnrichError)) throw error;
    return await ended({code: error.exitCode, errorCode: error.code, message: error.message});
  }
}

/** The job of these settings, whose files are in the directory. */
function jobOf(
  directory: string,
  env: Readonly<Record<string, string>>,
  raw: RawSettings,
  {fromFile, name}: {readonly fromFile: boolean; readonly name: string | undefined},
) {
  const absolute = (path: string) => (path === '-' ? path : join(directory, path));
  const {input = 'list.csv', output = 'out.csv', ...more} = raw as {input?: string; output?: string};
  const given = {rate: 'unlimited', ...(fromFile ? {endpoint: 'live'} : {}), ...more};
  const {name: _, input: __, output: ___, ...settings} = checkSettings(undefined, given);
  const source = {name, inputs: [absolute(input)], output: absolute(output), settings, fromFile};
  return resolveJob({...source, placeOf: createSettingLocator(undefined, given)}, env, false);
}

function readSummary(path: string | undefined): Summary | undefined {
  try {
    return path === undefined ? undefined : (JSON.parse(readFileText(path)) as Summary);
  } catch {
    return undefined;
  }
}

/** Stops a run as a signal would. */
export function interrupt(stopper: Stopper): void {
  stopper.stop({status: 'interrupted', reason: 'signal', exitCode: exitCodes.interrupted, message: 'Stop.'});
}

/** `ip` columns with this many distinct values. */
export function ips(count: number, from = 0): string {
  const value = (i: number) => `203.0.${113 + ((from + i) >> 8)}.${(from + i) & 255}`;
  return `ip\n${Array.from({length: count}, (_, i) => value(i)).join('\n')}\n`;
}

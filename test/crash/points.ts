import {expect} from 'vitest';
import type {Sandbox} from '../support/command.ts';
import {bytesOf, openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {tracedNode} from '../support/strace.ts';

/** The calls by which a run changes what is on disk. */
const CALLS = ['fsync', 'fdatasync', 'rename', 'link', 'pwrite64', 'ftruncate', 'unlink', 'rmdir'];

const IN_FLIGHT = 4;
const ROWS = 60;
const list = `${ips(ROWS)}1.2.3.4,one too many\n`;
const args = [
  ...['run', 'list.csv', '-o', 'out.csv.gz', '--ip', 'ip', '--rate', 'unlimited', '--max-credits', '200'],
  ...['--concurrency', String(IN_FLIGHT), '--quiet'],
];

/** The n-th call of its kind that a run makes, on whichever thread. */
export interface Point {
  readonly call: string;
  readonly nth: number;
}

interface Trial {
  readonly sandbox: Sandbox;
  /** With what runs in node's place: a process of its own. */
  run(node?: string): ReturnType<Sandbox['run']>;
  readonly calls: () => number;
}

async function withTrial<T>(work: (trial: Trial) => Promise<T>): Promise<T> {
  await using arena = await openArena();
  const {sandbox, api, env} = arena;
  sandbox.write('list.csv', list);
  const run = (node?: string) =>
    node === undefined ? runHere(sandbox, args, {env}) : sandbox.run(args, {env, node});
  return await work({sandbox, run, calls: () => api.ledger.calls});
}

export interface Uninterrupted {
  readonly output: Buffer;
  /** All points of it: the first so many calls of each kind. */
  readonly points: readonly Point[];
}

/** A run that nothing happens to. */
export function uninterrupted(): Promise<Uninterrupted> {
  return withTrial(async ({sandbox, run}) => {
    const {node, log} = tracedNode(sandbox, CALLS.join());
    expect(await run(node)).toMatchObject({code: 3});
    const made = log().map(line => /^\d+ +(\w+)\(/.exec(line)?.[1]);
    const points = CALLS.flatMap(call => {
      const count = made.filter(name => name === call).length;
      return Array.from({length: count}, (_, i) => ({call, nth: i + 1}));
    });
    return {output: bytesOf(sandbox, 'out.csv.gz'), points};
  });
}

/** Kills a run as it makes this call, and runs the same command again: what is left must be as if nothing had been. */
export function killAt({call, nth}: Point, {output}: Uninterrupted): Promise<{killed: boolean}> {
  return withTrial(async ({sandbox, run, calls}) => {
    const {node} = tracedNode(sandbox, call, `${call}:signal=SIGKILL:when=${nth}`);
    const first = await run(node);
    const killed = first.signal === 'SIGKILL';
    const again = await run();
    const where = `${call} ${nth}`;
    // Killed once its output was in place and its state gone, there is nothing left to do.
    expect([where, again.code, again.stderr]).toEqual([where, 3, again.stderr]);
    expect([where, bytesOf(sandbox, 'out.csv.gz').equals(output)]).toEqual([where, true]);
    expect([where, calls() <= ROWS + IN_FLIGHT]).toEqual([where, true]);
    const {rows, credits} = sandbox.summary('out.summary.json');
    expect([where, rows.written, rows.rejected]).toEqual([where, ROWS, 1]);
    expect([where, credits.spent <= calls(), calls() <= credits.spent + credits.maybe_spent]).toEqual([
      where,
      true,
      true,
    ]);
    const left = sandbox.files().filter(name => !name.startsWith('out.csv.gz.run/'));
    expect([where, left]).toEqual([
      where,
      ['list.csv', 'out.csv.gz', 'out.rejects.ndjson', 'out.summary.json'],
    ]);
    return {killed};
  });
}

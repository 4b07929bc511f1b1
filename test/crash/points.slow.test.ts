import {expect, test} from 'vitest';
import type {Sandbox} from '../support/command.ts';
import {bytesOf, openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
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
interface Point {
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

/** A run that nothing happens to: its output, and all points of it. */
function uninterrupted() {
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
function killAt({call, nth}: Point, output: Buffer): Promise<boolean> {
  return withTrial(async ({sandbox, run, calls}) => {
    const {node} = tracedNode(sandbox, call, `${call}:signal=SIGKILL:when=${nth}`);
    const first = await run(node);
    const killed = first.signal === 'SIGKILL';
    const again = await run();
    // Killed once its output was in place and its state gone, there is nothing left to do.
    const {rows, credits} = sandbox.summary('out.summary.json');
    const left = sandbox.files().filter(name => !name.startsWith('out.csv.gz.run/'));
    expect({call, nth, code: again.code, stderr: again.stderr, rows, left}).toMatchObject({
      ...{call, nth, code: 3, rows: {written: ROWS, rejected: 1}},
      left: ['list.csv', 'out.csv.gz', 'out.rejects.ndjson', 'out.summary.json'],
    });
    const isSame = bytesOf(sandbox, 'out.csv.gz').equals(output);
    const isBooked = credits.spent <= calls() && calls() <= credits.spent + credits.maybe_spent;
    expect([call, nth, isSame, isBooked, calls() <= ROWS + IN_FLIGHT]).toEqual([call, nth, true, true, true]);
    return killed;
  });
}

const {SOAK, SOAK_POINTS = 100} = process.env;
const isSoak = SOAK !== undefined;

/** Each rename and some others; in the soak as many points as asked for, the first writes among them. */
function chosen(points: readonly Point[]): readonly Point[] {
  const most = Number(SOAK_POINTS);
  const isRare = ({call}: Point) => (isSoak ? call !== 'pwrite64' : call === 'rename');
  const [rare, others] = [points.filter(isRare), points.filter(point => !isRare(point))];
  if (!isSoak) return [...rare, ...everyNth(others, Math.ceil(others.length / 3))];
  const spread = everyNth(rare, Math.max(1, rare.length / most));
  return [...spread, ...others.slice(0, most - spread.length)];
}

const everyNth = <T>(all: readonly T[], step: number) =>
  all.filter((_, at) => Math.floor((at + 1) / step) > Math.floor(at / step));

test.skipIf(lacks('strace'))(
  'a run killed at a rename, an unlink, an fsync or a write resumes as if nothing had happened',
  isSoak ? {} : {timeout: 120_000},
  async () => {
    const {output, points} = await uninterrupted();
    const at = chosen(points);
    let kills = 0;
    for (const point of at) if (await killAt(point, output)) kills += 1;
    console.log(`${at.length} points, ${kills} kills`);
    expect(kills).toBeGreaterThan(isSoak ? 0.8 * at.length : 5);
  },
);

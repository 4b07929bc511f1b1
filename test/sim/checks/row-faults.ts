import type {Operation} from '../../../src/operations/table.ts';
import {isStream} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {HEADER, outputPath} from '../model/places.ts';
import {type Call, serialOf} from '../world/service.ts';
import {
  type LookedUp,
  lookedUp,
  type OutputRow,
  readRows,
  recordsOf,
  targets,
  targetsOf,
  valueIn,
} from './output.ts';
import {
  ageOf,
  CLOCKS_APART_MS,
  isBegunAnew,
  runsOfLedger,
  type Scene,
  STALE_MS,
  scopeOfCall,
  scopeOfSpec,
  storedAs,
  TURN_MS,
} from './scene.ts';

/** Faults of rows as those of a run. */

/** The fault of an output as that of a run; undefined if it has none. */
export function faultIn(text: string, run: Ended, scene: Scene): string | undefined {
  const lines = readRows(text, run.spec);
  const {rows} = recordsOf(run.input);
  if (text.includes('\0') || lines.length !== rows.length)
    return `run ${run.nth}: ${lines.length} rows for ${rows.length}`;
  return faultOfRows(lines, rows, run, scene);
}

/** The fault of rows as those of a run's input, one for one. */
export function faultOfRows(
  lines: readonly OutputRow[],
  rows: readonly string[],
  run: Ended,
  scene: Scene,
): string | undefined {
  const serials = new Map<string, string>();
  const tokens = new Set<string>();
  for (const [index, line] of lines.entries()) {
    const row = rows[index] ?? '';
    if (HEADER.map(line).join() !== row)
      return `run ${run.nth}: "${HEADER.map(line).join()}" is not of "${row}"`;
    for (const name of targetsOf(run.spec)) {
      const value = valueIn(row, name);
      const result = {
        ...lookedUp(line, name),
        // An earlier row's verdict of the same token holds for this one, except that it was verified since.
        redeemed: name === 'verify' ? line(`${targets[name].prefix}redeemed`) : undefined,
        isLater: serials.has(`${targets[name].operation} ${value}`),
        // A row of an earlier session may have had the token, and no verdict.
        maybeLater: name === 'verify' && tokens.has(value),
      };
      if (name === 'verify') tokens.add(value);
      const {operation} = targets[name];
      const fault = faultOf(operation, value, result, row, run, scene);
      if (fault !== undefined)
        return `run ${run.nth}: ${name} of "${row}" is ${JSON.stringify(result)}: ${fault}`;
      if (result.status !== 'ok' && !(name === 'verify' && result.serial !== '')) continue;
      const other = serials.get(`${operation} ${value}`);
      if (other !== undefined && other !== result.serial)
        return `run ${run.nth}: ${value} has two answers, ${other} and ${result.serial}`;
      serials.set(`${operation} ${value}`, result.serial);
    }
  }
  return undefined;
}

/** A row's result of a lookup, with the model's knowledge of it. */
interface Result extends LookedUp {
  readonly redeemed: string | undefined;
  readonly isLater: boolean;
  readonly maybeLater: boolean;
}

function faultOf(
  name: Operation,
  value: string,
  result: Result,
  row: string,
  run: Ended,
  scene: Scene,
): string | undefined {
  const {service, runs, lostState} = scene;
  const isAskable = value !== '' && value !== 'no address' && value !== 'nonsense' && value !== 'no number';
  if (!isAskable) {
    const expected = value === '' ? 'empty' : 'invalid';
    return result.status === expected ? undefined : `it can be nothing but ${expected}`;
  }
  const scope = scopeOfSpec(run.spec);
  const ours = service.calls.filter(
    call => call.operation === name && call.value === value && scopeOfCall(call) === scope,
  );
  switch (result.status) {
    case 'ok':
      return faultOfAnswer(name, result, ours, run, runs);
    case 'failed':
      if (isGoodStill(name, value, run, scene)) return 'the store has an answer within its age';
      return ours.some(call => call.told !== 'answered' && call.code === result.error) ||
        // It was in flight when its run had waited long enough for it, and it may not be sent again.
        (result.error === 'interrupted' &&
          ours.some(({told, recorded}) => told === undefined || !recorded)) ||
        mayBeInterrupted(result.error, run, runs)
        ? undefined
        : 'no call failed so';
    case 'unknown':
      return ours.some(call => isUnclear(call, run) && says(call, result.error, run)) ||
        mayBeInterrupted(result.error, run, runs) ||
        // A fleet's chunk may be lost on its way: to the run its calls are in doubt, though none was sent.
        ((lostState || scene.hadTrouble) && result.error === 'verdict_replay_uncertain')
        ? undefined
        : 'no call is in doubt';
    case 'skipped':
      return faultOfSkip(result.error, row, run, scene);
    default:
      return 'there is no such status';
  }
}

/** True if the store had an answer before the run began, within its age until now. */
function isGoodStill(name: Operation, value: string, run: Ended, scene: Scene): boolean {
  const {spec, summary, storeIsSound} = run;
  const isOnly = run === scene.run && runsOfLedger(scene).length === 1 && run.ledger !== undefined;
  if (!isOnly || name === 'verify' || spec.cache === 'none' || !storeIsSound || summary === undefined)
    return false;
  const at = scene.storedBefore.get(storedAs(name, value, spec));
  const startedAt = Date.parse(summary.started_at);
  return at !== undefined && at <= startedAt && at >= startedAt - ageOf(spec);
}

/** True if a call may have been reserved and never sent. */
function mayBeInterrupted(error: string, run: Ended, runs: readonly Ended[]): boolean {
  // A lost worker's calls may or may not have begun.
  if (error === 'worker_lost') return true;
  const isDoubt = error === 'interrupted' || error === 'verdict_replay_uncertain';
  return (
    isDoubt &&
    runs.some(
      ({process, ledger}) =>
        // A fleet's run that stops may have chunks with a Redis that it does not reach, or that takes no writes; a run whose
        // disk takes no writes can't write down what its calls came to.
        (process.killed || process.leftOut || process.refused !== false) &&
        (ledger === run.ledger || run.ledger === undefined),
    )
  );
}

/** True if the run may not know the outcome of a call, or of one before it. */
function isUnclear({told, recorded, ledger}: Call, run: Ended): boolean {
  return (
    told === undefined ||
    told === 'ambiguous' ||
    told === 'unreadable' ||
    // It may have been charged, and an attempt that was given up is not asked for it again.
    told === 'rejected' ||
    !recorded ||
    ledger !== run.ledger
  );
}

/** True if a row may say this of a doubt that the call has left. */
function says({told, code, recorded, ledger}: Call, error: string, run: Ended): boolean {
  if (error === 'interrupted') return told === undefined || !recorded || ledger !== run.ledger;
  return error === 'verdict_replay_uncertain' || (told !== 'not sent' && code === error);
}

function faultOfAnswer(
  name: Operation,
  {serial, isStale, redeemed, isLater, maybeLater}: Result,
  ours: readonly Call[],
  run: Ended,
  runs: readonly Ended[],
): string | undefined {
  const call = ours.find(
    one => serialOf(one) === serial && (one.told === 'answered' || one.told === undefined),
  );
  if (call === undefined) return 'no such answer was given for this value by this endpoint to this account';
  const isOwn = call.ledger === run.ledger && run.ledger !== undefined;
  if (name === 'verify') {
    if (run.ledger !== undefined && !isOwn) return 'it is the verdict of another run';
    if (redeemed !== String(isLater || call.redeemed) && !(maybeLater && redeemed === 'true'))
      return `the token is ${isLater ? 'of an earlier row, and so redeemed' : 'told of with another word'}`;
    if (isLater) return undefined;
    const earlier = ours.find(
      one => one.ledger === call.ledger && one.number < call.number && one.carriedOut,
    );
    return call.redeemed && earlier !== undefined
      ? `#${earlier.number}, our own, had redeemed it`
      : undefined;
  }
  if (isStale && !run.spec.stale) return 'nobody asked for stale answers';
  // An earlier attempt's answer must be as young as a stored one.
  const isGivenUp = runs.some(
    one =>
      one.ledger === run.ledger &&
      (one.spec.restart || isBegunAnew(one)) &&
      one.process !== call.process &&
      // By the clock, which may have been set back in between.
      one.callsByThen >= call.number &&
      one.startedAt > call.toldAt,
  );
  if ((isOwn && !isGivenUp) || run.summary === undefined || run.ledger === undefined) return undefined;
  const startedAt = Date.parse(run.summary.started_at);
  // A resumed run judges by its start, whatever the clock says since.
  const now = Math.max(startedAt, Date.parse(run.summary.finished_at));
  // An attempt that was given up is the run's own, whatever the clock is set to since.
  const age = ageOf(run.spec) + (isStale ? STALE_MS : 0);
  // Bought under a clock that was ahead, it counts as old as a run before it.
  const countsAsOlder = runs.some(
    one =>
      one.callsByThen < call.number &&
      one.spec.cache === run.spec.cache &&
      one.startedAt <= now &&
      one.startedAt >= startedAt - age,
  );
  const isAhead = !isOwn && call.toldAt > now + CLOCKS_APART_MS;
  if (isAhead && !countsAsOlder && !isBehindOthers(run, now, runs)) return 'it is of a day to come';
  return call.toldAt + TURN_MS < startedAt - age ? 'it is too old' : undefined;
}

/** True if two runs on different days have said a date since which a run's clock is behind: both are before it. */
function isBehindOthers({spec, nth}: Ended, now: number, runs: readonly Ended[]): boolean {
  const before = runs.filter(one => one.nth < nth && one.spec.cache === spec.cache);
  const first = before.filter(({startedAt}) => startedAt > now + CLOCKS_APART_MS);
  return first.some(one =>
    before.some(other => other.nth > one.nth && other.startedAt - one.startedAt >= DAYS_APART_MS),
  );
}

/** Runs agree on a date if so much lies between them. */
const DAYS_APART_MS = 20 * 3_600_000;

function faultOfSkip(error: string, row: string, run: Ended, scene: Scene): string | undefined {
  const {spec} = run;
  if (error === 'condition') return spec.columns === 'ip email?' ? undefined : 'there is no condition';
  if (error === 'filter') return spec.where && row.startsWith('r2,') ? undefined : 'nothing asks for that';
  const why = {
    budget: ({spec: one}: Ended) =>
      (one.maxCredits ?? scene.accountPerDay ?? scene.accountPerMonth) !== undefined,
    deadline: ({spec: one}: Ended) => one.until !== undefined,
    outage: ({spec: one, process}: Ended) =>
      one.fleet !== undefined ||
      scene.service.calls.some(call => call.process === process && FAILING.has(call.told)),
    offline: ({spec: one}: Ended) => one.offline === true,
  };
  if (!(error in why)) return 'there is no such reason';
  // Rows may have been skipped, and written, by the session before, which had other limits.
  const before = scene.runs.filter(
    one => one.nth <= run.nth && outputPath(one.spec) === outputPath(spec) && !isStream(spec),
  );
  const mayBe = [run, ...before].some(
    one => (one.spec.publishesAtLimit || error === 'offline') && why[error as keyof typeof why](one),
  );
  return mayBe ? undefined : 'there is no reason to';
}

/** Outcomes that may belong to an outage. */
const FAILING = new Set<Call['told']>([
  'not sent',
  'ambiguous',
  'throttled',
  'fatal',
  'unreadable',
  undefined,
]);

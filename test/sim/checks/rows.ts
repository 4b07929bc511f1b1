import {createHash} from 'node:crypto';
import {join} from 'node:path';
import type {Operation} from '../../../src/operations/table.ts';
import type {RunSpec} from '../model/commands.ts';
import type {End, Ended} from '../model/ended.ts';
import {HEADER, outputPath, statePath} from '../model/places.ts';
import {type Call, DENIED, REJECTED, serialOf} from '../world/service.ts';
import {type LookedUp, lookedUp, readRows, recordsOf, targets, targetsOf, valueIn} from './output.ts';
import {
  ageOf,
  type Check,
  CLOCKS_APART_MS,
  isBegunAnew,
  rowsIn,
  runsOfLedger,
  type Scene,
  STALE_MS,
  scopeOfCall,
  scopeOfSpec,
  storedAs,
  TURN_MS,
  textOf,
  UNTRIED,
} from './scene.ts';

const whole: Check = {
  promise:
    'The final path has a whole output, each row with its own columns and what is true of it, or what stood there before.',
  broken(scene) {
    const {run, runs} = scene;
    const path = outputPath(run.spec);
    // A killed run's published files last once their directory is synced: before, a power cut of the next run may undo
    // them.
    const stood = run.stood.map(snapshot => snapshot.get(path));
    const after = run.after.get(path);
    const said = isThere(run) ? run.end : undefined;
    if (after === undefined)
      return stood.includes(undefined) && said === undefined ? undefined : 'there is no output';
    if (said !== undefined && run.isAlone && run.lasting.get(path)?.equals(after) !== true)
      return 'it may be gone after a power cut';
    const isNew = !stood.some(one => one?.equals(after));
    if (!isNew && (said === undefined || run.stop !== undefined)) return UNTRIED;
    const text = textOf(after);
    const faults = candidates(run, runs, said).map(candidate => faultIn(text, candidate, scene));
    return faults.includes(undefined) ? undefined : faults.join(' | ');
  },
};

/** True for a run that says that its output is in place. */
function isThere({end}: Ended): boolean {
  return end === 'wrote' || end === 'complete' || end === 'unpublished';
}

/** The runs of which this may be the output. */
function candidates(run: Ended, runs: readonly Ended[], said: End | undefined): readonly Ended[] {
  const others = runs.filter(one => one !== run && outputPath(one.spec) === outputPath(run.spec));
  const beside = others.filter(one => one.before === run.before);
  if (said !== undefined && said !== 'unpublished') return [run, ...beside];
  // A publishing that was cut short, or one whose end a power cut has undone.
  const earlier = others.filter(
    one =>
      one.nth < run.nth &&
      (one.code === undefined || said !== undefined) &&
      // With --force another input is not told to be done.
      !(said !== undefined && run.spec.force && one.input !== run.input),
  );
  return [run, ...beside, ...earlier.reverse()];
}

/** The fault of an output as that of a run; undefined if it has none. */
function faultIn(text: string, run: Ended, scene: Scene): string | undefined {
  const lines = readRows(text, run.spec);
  const {rows} = recordsOf(run.input);
  if (text.includes('\0') || lines.length !== rows.length)
    return `run ${run.nth}: ${lines.length} rows for ${rows.length}`;
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
    budget: (one: RunSpec) => (one.maxCredits ?? scene.accountPerDay ?? scene.accountPerMonth) !== undefined,
    deadline: (one: RunSpec) => one.until !== undefined,
    outage: (one: RunSpec) =>
      one.fleet !== undefined ||
      scene.service.calls.some(call => call.spec === one && FAILING.has(call.told)),
    offline: (one: RunSpec) => one.offline === true,
  };
  if (!(error in why)) return 'there is no such reason';
  // Rows may have been skipped, and written, by the session before, which had other limits.
  const sessions = [run, ...scene.runs].filter(
    one => one.nth <= run.nth && outputPath(one.spec) === outputPath(spec),
  );
  const mayBe = sessions.some(
    one => (one.spec.publishesAtLimit || error === 'offline') && why[error as keyof typeof why](one.spec),
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

/** Exit codes of runs that published. With 4, too many failures, a run may have published or not. */
const COMPLETE = new Set([0, 3]);

const LOST = new Set(['failed', 'unknown']);

const judged: Check = {
  promise: 'Exit code 0 is of a run in which nothing failed, was left out for a limit or could not be read.',
  broken({run}) {
    const {code, spec, after, isAlone, input} = run;
    const output = after.get(outputPath(spec));
    if (code !== 0 || output === undefined || !isAlone || run.end !== 'wrote') return UNTRIED;
    const {broken} = recordsOf(input);
    if (broken.length > 0) return `${broken.length} rows were rejected`;
    for (const cell of readRows(textOf(output), spec))
      for (const name of targetsOf(spec)) {
        const {prefix} = targets[name];
        const [status, error] = [cell(`${prefix}status`) ?? '', cell(`${prefix}error`) ?? ''];
        if (cell(`${prefix}stale`) === 'true') return `${name} is past its age`;
        // A rejection is an answer where it is kept.
        const isRejection = status === 'failed' && (error === REJECTED || error === DENIED);
        if ((LOST.has(status) && !isRejection) || (status === 'skipped' && LIMITS.has(error)))
          return `${name} ${status} ${error}`;
      }
    return undefined;
  },
};

const LIMITS = new Set(['budget', 'deadline', 'outage']);

const setAside: Check = {
  promise: 'Rows that could not be read are in the rejects, each once, whatever was cut off meanwhile.',
  broken({run}) {
    const {code, spec, after, isAlone, input, job} = run;
    if (code !== 3 || !isAlone || run.end !== 'wrote') return UNTRIED;
    const {broken} = recordsOf(input);
    if (broken.length === 0) return UNTRIED;
    const path = job?.paths.rejects;
    const text = path === undefined ? '' : (after.get(path)?.toString() ?? '');
    const lost = broken.find(line => !text.includes(line.split(',')[0] ?? line));
    if (lost !== undefined && spec.clash === undefined) return `"${lost}" is not in ${path}`;
    const lines = text.split('\n').filter(line => line !== '').length;
    return lines !== broken.length ? `${lines} are there, of ${broken.length}` : undefined;
  },
};

const accounted: Check = {
  promise: 'Whoever sees the output finds the summary that belongs to it, with the right number of rows.',
  broken({run}: Scene) {
    const {job, after, before, spec} = run;
    const path = outputPath(spec);
    const output = after.get(path);
    const summary = job?.paths.summary === undefined ? undefined : after.get(job.paths.summary);
    if (output === undefined || before.get(path)?.equals(output) === true || !run.isAlone) return UNTRIED;
    // The files of a stopped run are the last run's, and the last summary is its own.
    if (run.stop !== undefined) return UNTRIED;
    if (summary === undefined) return 'there is none';
    // One that completed an earlier publishing may be cut short in its own, of which the output comes last.
    if (run.process.killed && isAnothers(output, after.get(join(statePath(spec), 'publish.json'))))
      return UNTRIED;
    const told = JSON.parse(summary.toString());
    // Nor did one that was killed once it had told why it stopped.
    if (told.output.bytes === null && !COMPLETE.has(told.exit_code)) return UNTRIED;
    if (told.output.bytes !== output.length)
      return `it tells of ${told.output.bytes} bytes, and there are ${output.length}`;
    const rows = rowsIn(output);
    return told.rows.written === rows
      ? undefined
      : `it tells of ${told.rows.written} rows, and there are ${rows}`;
  },
};

/** True if an output is not the one in the record of a publishing. */
function isAnothers(output: Buffer, record: Buffer | undefined): boolean {
  if (record === undefined) return false;
  const sha256 = createHash('sha256').update(output).digest('hex');
  return JSON.parse(record.toString()).output?.sha256 !== sha256;
}

export const rowChecks: readonly Check[] = [whole, accounted, judged, setAside];

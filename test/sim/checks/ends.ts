import {join} from 'node:path';
import {exitCodes} from '../../../src/errors.ts';
import {isStream, type RunSpec} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {inputPath, outputPath, statePath} from '../model/places.ts';
import type {Call} from '../world/service.ts';
import {
  type Check,
  callsInLedger,
  isBegunAnew,
  isRefusal,
  rowsIn,
  runsOfLedger,
  type Scene,
  scopeOfCall,
  scopeOfSpec,
  storedAs,
  UNTRIED,
} from './scene.ts';

const noFault: Check = {
  promise: 'No run ends with an internal error.',
  broken: ({run}) => (run.code === 1 ? run.message : undefined),
};

const silent: Check = {
  promise: 'A run that could not start, or says that nothing was sent, has sent nothing.',
  broken({run}) {
    const saysSo = run.error !== undefined || /nothing was sent/i.test(run.message);
    if (!saysSo || run.spec.fleet) return UNTRIED;
    return run.calls.length > 0 ? `${run.calls.length} calls: ${run.message}` : undefined;
  },
};

const refused: Check = {
  promise:
    'No run takes its settings for wrong because of values that are refused, where it knows answers of that operation.',
  broken(scene: Scene) {
    const {run, service, storedBefore} = scene;
    if (run.stop !== 'refused' && run.stop !== 'credentials') return UNTRIED;
    const [, most, operation] = /first (\d+) (\w+) calls/.exec(run.message) ?? [];
    const scope = scopeOfSpec(run.spec);
    const last = stoppedAt(
      callsInLedger(scene).filter(call => call.operation === operation),
      Number(most),
    );
    const known = service.calls.find(
      call =>
        call.told === 'answered' &&
        call.toldOrder < last &&
        call.operation === operation &&
        scopeOfCall(call) === scope &&
        ((call.ledger === run.ledger && call.recorded) ||
          (run.storeIsSound && storedBefore.has(storedAs(call.operation, call.value, run.spec)))),
    );
    return known === undefined ? undefined : `#${known.number} was answered: ${run.message}`;
  },
};

/**
 * When a run heard of the refusal that it stops at, so many over all its sessions and nothing answered. Calls in flight are still heard of,
 * refused or answered: that comes too late.
 */
function stoppedAt(calls: readonly Call[], most: number): number {
  const refusals = calls.filter(isRefusal);
  refusals.sort((a, b) => a.toldOrder - b.toldOrder);
  // A fleet's workers hear in another order.
  return (refusals[most - 1] ?? refusals.at(-1))?.toldOrder ?? 0;
}

const isSame = (a: RunSpec, b: RunSpec) =>
  JSON.stringify({...a, day: undefined}) === JSON.stringify({...b, day: undefined});

/** The settings that decide how a command ends, and not its output. */
function sameJob(a: RunSpec, b: RunSpec): boolean {
  const plain = (spec: RunSpec) =>
    JSON.stringify({...spec, force: false, restart: false, freshBudget: false, state: 0});
  return plain(a) === plain(b);
}

const doneBefore: Check = {
  promise: 'The same command again after its end says that there is nothing to do.',
  broken({run, runs}) {
    if (run.error?.code !== 'output_exists' && run.end !== 'complete') return UNTRIED;
    if (run.end === 'complete' || run.spec.restart || run.spec.force) return undefined;
    const path = outputPath(run.spec);
    const maker = runs.findLast(
      one =>
        one.nth < run.nth &&
        one.before.get(path)?.equals(one.after.get(path) ?? EMPTY) !== true &&
        one.after.has(path),
    );
    if (maker === undefined || !sameJob(maker.spec, run.spec) || maker.input !== run.input) return UNTRIED;
    const isAsItWas = [path, run.job?.paths.summary ?? '', run.job?.paths.rejects ?? ''].every(
      name => maker.after.get(name)?.equals(run.before.get(name) ?? EMPTY) !== false,
    );
    // An output without one answer is no success: it is made again with --force.
    const isDone =
      maker.end === 'wrote' &&
      [exitCodes.ok, exitCodes.incomplete, exitCodes.limit].some(code => code === maker.code);
    return isAsItWas && isDone ? run.message : undefined;
  },
};

const EMPTY = Buffer.alloc(0);

const keptAttempt: Check = {
  promise:
    'What was paid for in an attempt that was cut off is there until it goes on, or is given up in so many words.',
  broken({run, runs}) {
    const path = join(statePath(run.spec), 'ledger.db');
    const isAtItsEnd = run.end === 'complete' || run.end === 'unpublished';
    if (!isAtItsEnd || !run.before.has(path) || run.after.has(path)) return UNTRIED;
    const earlier = runs.filter(one => one.nth < run.nth && statePath(one.spec) === statePath(run.spec));
    const last = earlier.findLast(({ledger}) => ledger !== undefined);
    // No output has its answers: the output of this state has not changed since.
    const output = outputPath(run.spec);
    const isCutOff =
      last?.process.killed === true &&
      outputPath(last.spec) === output &&
      last.before.get(output)?.equals(run.after.get(output) ?? EMPTY) === true;
    if (!isCutOff) return UNTRIED;
    const paid = last.calls.filter(({told, recorded}) => told === 'answered' && recorded);
    return paid.length > 0
      ? `${paid.length} answers of run ${last?.nth} are gone: ${run.message}`
      : undefined;
  },
};

/** Errors that are about what has been changed since, or has been done to the state, and not about the run. */
const FOR_THE_USER: readonly string[] = [
  ...['output_exists', 'same_file', 'settings_changed', 'input_changed', 'state_version', 'state_damaged'],
  ...['stale_stdin', 'file_exists', 'summary_exists', 'store_unusable', 'publish_lost'],
];

/** The fault of a run after all trouble is over. */
export function faultOfHealed(run: Ended): string | undefined {
  const {error, stop, code, message} = run;
  if (error !== undefined) return FOR_THE_USER.includes(error.code) ? undefined : `${error.code}: ${message}`;
  if (stop === undefined) return code === 0 || code === 3 ? undefined : `exit ${code}: ${message}`;
  return stop === 'refused' ? undefined : `it stopped with ${code}: ${message}`;
}

const excused: Check = {
  promise: 'That settings or the input were changed is only said where they were.',
  broken({run, runs}) {
    const code = run.error?.code ?? run.stop;
    if (code !== 'settings_changed' && code !== 'input_changed') return UNTRIED;
    const others = runs.filter(one => one.nth < run.nth);
    if (code === 'settings_changed' && others.every(({spec}) => isSame(spec, run.spec))) return run.message;
    if (code === 'input_changed' && others.every(({input}) => input === run.input)) return run.message;
    return undefined;
  },
};

const untorn: Check = {
  promise: 'What a crash leaves is never taken for damage: the same command goes on from it.',
  broken({run, runs}) {
    const code = run.error?.code ?? run.stop;
    const earlier = runs.findLast(one => one.nth < run.nth && one.ledger === run.ledger);
    if (code === undefined && earlier?.process.killed !== true) return UNTRIED;
    // Over an output that a run with another state has replaced since, no publishing can be completed.
    const others = runs.some(
      ({spec}) => outputPath(spec) === outputPath(run.spec) && spec.state !== run.spec.state,
    );
    if (code === 'publish_lost' && others) return UNTRIED;
    return code === 'partial_short' || code === 'publish_lost' ? run.message : undefined;
  },
};

const told: Check = {
  promise: 'The sentence at the end is true.',
  broken({run, runs}) {
    const {message, after, spec, end} = run;
    if (message === '') return UNTRIED;
    const written = /^([\d,]+) rows? written to (\S+?)[.,]/.exec(message);
    const output = after.get(outputPath(spec));
    if (written !== null && output === undefined) return message;
    const rows = output === undefined ? 0 : rowsIn(output);
    if (isStream(spec) && end === 'wrote' && Number(/^[\d,]+/.exec(message)) !== rows) return message;
    // One beside it may have replaced the output since.
    const others = runs.some(
      one => one !== run && one.before === run.before && outputPath(one.spec) === outputPath(spec),
    );
    if (written !== null && !others && Number(written[1]?.replace(',', '')) !== rows)
      return `${message} There are ${rows}.`;
    // A fleet's workers may still have calls of the session before.
    if (end === 'complete' && run.calls.length > 0 && !spec.fleet) return message;
    return run.input === undefined ? inputPath(spec.input) : undefined;
  },
};

const bound: Check = {
  promise: 'A run goes on where rows of it were written, and only one without any is begun anew.',
  broken({run, runs}) {
    const before = runs.findLast(one => one.nth < run.nth && one.ledger === run.ledger);
    // Rows that were counted may be on no disk.
    if (before !== undefined && before.process.refused !== false) return UNTRIED;
    // A stream begins at its first row each time, and leaves no rows to a later run.
    if (isStream(run.spec) || (before !== undefined && isStream(before.spec))) return UNTRIED;
    const written = before?.summary?.rows.written ?? 0;
    if (!isBegunAnew(run) || run.ledger === undefined || before === undefined) return UNTRIED;
    return written > 0 ? `run ${before?.nth} had written ${written}` : undefined;
  },
};

const ofOneInput: Check = {
  promise: 'What a complete run looked up is of its own input: no more values than it has cells.',
  broken(scene) {
    const {run} = scene;
    if (run.stop !== undefined || run.error !== undefined || !run.isAlone) return UNTRIED;
    // Rows that it did not reach may have gone from the input since, and their values were bought.
    const isRest = runsOfLedger(scene).some(
      ({input, process, summary}) =>
        input !== run.input && (process.killed || (summary?.rows.written ?? 0) > 0),
    );
    if (isRest) return UNTRIED;
    const lookups = Object.entries(run.summary?.lookups ?? {});
    const [name, counts] = lookups.find(([, {values, distinct}]) => distinct > values) ?? [];
    return counts && `${counts.distinct} of ${name}, and ${counts.values} cells`;
  },
};

export const endChecks: readonly Check[] = [
  bound,
  ofOneInput,
  noFault,
  silent,
  refused,
  doneBefore,
  keptAttempt,
  excused,
  untorn,
  told,
];

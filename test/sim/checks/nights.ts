import {join} from 'node:path';
import type {RunSpec} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {dayAt, outputPath, statePath} from '../model/places.ts';
import {
  type Check,
  DAY_MS,
  isBegunAnew,
  lacksHistory,
  mayLeaveToStartOver,
  type Scene,
  scopeOfSpec,
  UNTRIED,
} from './scene.ts';

/** Nights that write a file of each day. */

const pathOf = ({spec}: Ended, day: string) => outputPath({...spec, day});

/** The day in a path of the run's output, or of what is beside it. */
function dayIn(path: string, {spec}: Ended): string | undefined {
  const [before = ''] = outputPath({...spec, day: ' '}).split(' ');
  return path.startsWith(before) ? /^\d{4}-\d\d-\d\d/.exec(path.slice(before.length))?.[0] : undefined;
}

/** The days before the run's own of which it found a state: their runs were not finished. */
function unfinishedBefore(run: Ended): string[] {
  const {before, spec} = run;
  const days = new Set([...before.keys()].flatMap(path => dayIn(path, run) ?? []));
  const hasLedger = (day: string) => before.has(join(statePath({...spec, day}), 'ledger.db'));
  return [...days].filter(day => hasLedger(day) && day < (spec.day ?? '')).sort();
}

/** The command's own run, if it has a file of each day. */
function isNight({spec, isOfEarlierDay, isAlone}: Ended): boolean {
  return spec.way === 'dated' && !isOfEarlierDay && isAlone;
}

/** The runs of earlier days that this run's command began to finish. */
function finishedFirst({run, runs}: Scene): readonly Ended[] {
  return runs.filter(one => one.isOfEarlierDay && one.process === run.process);
}

const ofItsDay: Check = {
  promise: 'A night writes the files of the day on which it began, by UTC, and of days that were unfinished.',
  broken(scene) {
    const {run} = scene;
    // A power cut may undo what an earlier command had done.
    if (!isNight(run) || run.stood.length > 1) return UNTRIED;
    const {before, after, spec, startedAt} = run;
    const own = dayAt(startedAt - DAY_MS * (spec.daysAgo ?? 0));
    const allowed = new Set([own, ...(spec.daysAgo === undefined ? finishedFirst(scene) : []).map(dayOf)]);
    const changed = [...after].filter(([path, data]) => before.get(path)?.equals(data) !== true);
    const gone = [...before.keys()].filter(path => !after.has(path));
    const days = [...changed.map(([path]) => path), ...gone].flatMap(path => dayIn(path, run) ?? []);
    const other = days.find(day => !allowed.has(day));
    return other && `it changed files of ${other}, and its day is ${own}`;
  },
};

const dayOf = ({spec}: Ended) => spec.day ?? '';

const finished: Check = {
  promise:
    'An unfinished run of an earlier day is completed first, or a warning has the command that finishes it.',
  broken(scene) {
    const {run} = scene;
    const days = unfinishedBefore(run);
    if (!isNight(run) || run.spec.daysAgo !== undefined || run.process.killed || days.length === 0)
      return UNTRIED;
    // A run that is asked to end leaves the other days as they are.
    if (run.unwantedAt !== undefined) return UNTRIED;
    for (const day of days) {
      const isLeft = run.after.has(join(statePath({...run.spec, day}), 'ledger.db'));
      // The file of a day may be there already: then another attempt at it waits for its user. What the history lacks stays.
      const isThere =
        lacksHistory(run) || finishedFirst(scene).some(one => dayOf(one) === day && one.end === 'complete');
      const isDone = run.after.has(pathOf(run, day)) && (!isLeft || isThere);
      const isTold = run.warnings.some(sentence => sentence.includes(`--date ${day}`));
      if (!isDone && !isTold) return `${day} is as it was: ${run.warnings.join(' ')}`;
    }
    return undefined;
  },
};

const first: Check = {
  promise:
    'What an earlier day lacks is bought before what the night itself needs, and the oldest day comes first.',
  broken(scene) {
    const {run} = scene;
    const runs = [...finishedFirst(scene), run];
    if (!isNight(run) || runs.length === 1) return UNTRIED;
    const days = runs.map(dayOf);
    if (days.join() !== days.toSorted().join()) return `they came in this order: ${days.join(', ')}`;
    const orders = runs.flatMap(({calls}) => calls.map(({order}) => order));
    return orders.some((order, index) => order < (orders[index - 1] ?? 0))
      ? `the calls of ${days.join(' and ')} are mixed`
      : undefined;
  },
};

const usedUp: Check = {
  promise:
    "An earlier day's run that has used its own limit up stays unfinished, and the night continues with its own list.",
  broken(scene) {
    const {run} = scene;
    if (!isNight(run) || run.process.killed || run.unwantedAt !== undefined) return UNTRIED;
    const broke = finishedFirst(scene).find(({stop}) => stop === 'budget');
    if (broke === undefined) return UNTRIED;
    const hasState = (spec: RunSpec) => run.after.has(join(statePath(spec), 'ledger.db'));
    if (!hasState(broke.spec)) return `${dayOf(broke)} has lost its state`;
    const isRefused = run.error !== undefined && run.error.code !== 'budget';
    const isBegun = run.after.has(outputPath(run.spec)) || hasState(run.spec) || isRefused;
    return isBegun ? undefined : `it has not begun its own: ${run.message}`;
  },
};

const resumed: Check = {
  promise: "An earlier day's run is resumed: a restart that its command asks for is of the night's own run.",
  broken(scene) {
    const {run, runs} = scene;
    const before = runs.findLast(one => one.nth < run.nth && one.ledger === run.ledger);
    if (!run.isOfEarlierDay || run.summary === undefined || run.end !== 'wrote' || before === undefined)
      return UNTRIED;
    // Another list or other settings are another run.
    const isSame =
      before.input === run.input &&
      before.spec.columns === run.spec.columns &&
      scopeOfSpec(before.spec) === scopeOfSpec(run.spec) &&
      !mayLeaveToStartOver(before, scene);
    const isPaid = before.calls.some(({recorded, told}) => recorded && told === 'answered');
    if (!isSame || !isPaid || run.warnings.some(says => says.includes('starts over')) || isBegunAnew(run))
      return UNTRIED;
    return run.summary.resumed.times > 0 ? undefined : 'it was begun anew';
  },
};

const ownList: Check = {
  promise: 'A night whose list comes through a pipe has that list, whatever earlier days are unfinished.',
  broken({run}) {
    if (!isNight(run) || !run.spec.stdin || unfinishedBefore(run).length === 0) return UNTRIED;
    return run.error?.code === 'input_empty' ? 'the pipe was empty when it began' : undefined;
  },
};

export const nightChecks: readonly Check[] = [ofItsDay, finished, first, usedUp, resumed, ownList];

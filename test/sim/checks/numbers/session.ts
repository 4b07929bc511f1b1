import {createHash} from 'node:crypto';
import {costOf, isOfProgram, isStream} from '../../model/commands.ts';
import type {Ended} from '../../model/ended.ts';
import {accountOf, endpointOf, inputNames, isScored, keepsRejects, outputPath} from '../../model/places.ts';
import {LEFT} from '../../model/report.ts';
import {operationsOf} from '../output.ts';
import {type Check, isBegunAnew, isMore, runsOfLedger, textOf, UNTRIED} from '../scene.ts';
import {differing, EMPTY, outside, writtenIn} from './written.ts';

/** What a summary says of its run, its sessions and its files. */

const ofAbout: Check = {
  promise: 'A summary says which run it is of, when it was, how it ended, and over which files.',
  fields: [
    'schema_version',
    'run_id',
    'job',
    'status',
    'reason',
    'exit_code',
    'started_at',
    'finished_at',
    'duration_ms',
    'endpoint',
    'input',

    'credits.limit',
    'credits.account.label',
  ],
  broken(scene) {
    const {run} = scene;
    const {summary, spec, code, stop, ledger} = run;
    if (summary === undefined || ledger === undefined || run.end === 'complete') return UNTRIED;
    if ((run.end !== 'wrote' && stop === undefined) || stop === LEFT) return UNTRIED;
    const status = stop !== undefined ? undefined : code === 0 ? 'completed' : 'partial';
    const startedAt = Date.parse(summary.started_at);
    const duration = Date.parse(summary.finished_at) - startedAt;
    const wrong = differing(
      {
        ...summary,
        kind: summary.endpoint.kind,
        base: summary.endpoint.base_url,
        label: summary.credits.account.label,
      },
      {
        schema_version: 2,
        job: null,
        exit_code: code,
        duration_ms: duration,
        kind: 'live',
        base: endpointOf(spec),
        label: accountOf(spec),
        failed_if: [],
        drift: [],
        ...(!isScored(spec) && {risk: null}),
        ...(status && {status}),
        ...(stop && {reason: stop}),
      },
    );
    if (wrong !== undefined) return wrong;
    if (duration < 0) return `it ended ${-duration} ms before it began`;
    if (summary.credits.limit !== (spec.maxCredits ?? null)) return `the limit is ${summary.credits.limit}`;
    if (summary.input.paths.join() !== inputNames(spec).join()) return `the input is ${summary.input.paths}`;
    const others = scene.runs.filter(one => one.nth < run.nth && one.summary?.run_id === summary.run_id);
    const isOther = others.some(one => one.ledger !== undefined && one.ledger !== ledger);
    if (isOther) return `it has the name of run ${others[0]?.nth}`;
    if (stop === undefined && run.isAlone && !spec.stdin && !isOfProgram(spec)) {
      const sha256 = createHash('sha256').update(run.bytes).digest('hex');
      const file = differing(summary.input, {bytes: run.bytes.length, sha256}, 'input.');
      if (file !== undefined) return file;
    }
    return undefined;
  },
};

const ofOutput: Check = {
  promise: 'A summary names the files that it tells of by their length and digest.',
  fields: ['output', 'rejects'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {run, summary} = written;
    const digest = (data: Buffer) => ({
      bytes: data.length,
      sha256: createHash('sha256').update(data).digest('hex'),
    });
    const output = run.after.get(outputPath(run.spec)) ?? EMPTY;
    const rejects = run.job?.paths.rejects;
    const file = rejects === undefined ? undefined : run.after.get(rejects);
    const text = textOf(output);
    const [delimiter = null] = (!text.startsWith('{') && /[,;\t]/.exec(text)) || [];
    // A stream keeps nothing.
    const kept = isStream(run.spec) ? {bytes: null, sha256: null} : digest(output);
    const derived = {path: run.job?.output.name, ...kept, delimiter};
    const wrong = differing(summary.output, derived, 'output.');
    if (!keepsRejects(run.spec))
      return wrong ?? (summary.rejects === null ? undefined : 'it tells of rejects');
    if (wrong !== undefined || written.broken === 0)
      return wrong ?? (summary.rejects === null ? undefined : 'it tells of rejects, and there are none');
    return differing(summary.rejects ?? {}, {path: rejects ?? null, ...digest(file ?? EMPTY)}, 'rejects.');
  },
};

const ofEarlier: Check = {
  promise: 'What earlier attempts cost is told where there were any, as a part of all that is spent.',
  fields: ['credits.earlier'],
  broken(scene) {
    const {summary, ledger} = scene.run;
    if (summary === undefined || ledger === undefined || scene.lostState) return UNTRIED;
    const {spent, maybe_spent: maybe, earlier} = summary.credits;
    const {counted} = earlier;
    if (isMore(counted.spent, spent) || isMore(counted.maybe_spent, maybe))
      return `${counted.spent} and perhaps ${counted.maybe_spent} are counted, of ${spent} and ${maybe}`;
    if (earlier.unknown) return 'nothing of it is unknown';
    const sum = [counted, earlier.not_counted].reduce((all, one) => all + one.spent + one.maybe_spent, 0);
    return runsOfLedger(scene).length === 1 && sum > 0
      ? `${sum} credits of a run that is the first`
      : undefined;
  },
};

const ofStore: Check = {
  promise: 'What it costs that the store was out of order is told at the price of a call, and else nothing.',
  fields: ['store.trouble', 'store.not_looked_up', 'store.perhaps_paid_again'],
  broken({run, runs}) {
    const {summary, spec, ledger} = run;
    if (summary === undefined || ledger === undefined) return UNTRIED;
    const {store} = summary;
    if (spec.cache === 'none' || store === null)
      return (spec.cache === 'none') === (store === null) ? undefined : 'it tells of a store';
    // Values of an operation that the run's earlier sessions looked up count too.
    const sessions = runs.filter(one => one.ledger === ledger);
    const prices = [run, ...sessions].flatMap(one => operationsOf(one.spec)).map(name => costOf(spec, name));
    const [least, most] = [Math.min(...prices), Math.max(...prices)].map(each => each * store.not_looked_up);
    const wrong = outside({paid_again: store.perhaps_paid_again}, {paid_again: [least ?? 0, most ?? 0]});
    if (wrong !== undefined) return wrong;
    const sound = sessions.every(one => one.storeIsSound);
    const trouble = [store.trouble, store.not_looked_up || null, store.not_stored || null];
    // A lock that is over soon may still be what a run meets as it stops.
    return sound && run.stop === undefined && trouble.some(one => one !== null)
      ? `it tells of ${trouble.join(', ')}`
      : undefined;
  },
};

const ofSessions: Check = {
  promise: 'A summary says how often its run was resumed, and from which row.',
  fields: ['resumed'],
  broken(scene) {
    const {run} = scene;
    const {summary, ledger} = run;
    if (summary === undefined || ledger === undefined) return UNTRIED;
    const earlier = runsOfLedger(scene).filter(one => one.nth < run.nth);
    const {times, from_row: row} = summary.resumed;
    if (times > earlier.length) return `${times} times, in ${earlier.length} sessions before`;
    const isPlain = earlier.every(one => isPlainSession(one, run));
    if (isPlain && row !== null && times !== earlier.length) return `${times} times, of ${earlier.length}`;
    if (row !== null && (row < 2 || row > recordCount(run) + 1)) return `from row ${row}`;
    return row !== null && times === 0 ? `from row ${row}, for the first time` : undefined;
  },
};

function recordCount({input}: Ended): number {
  return input.split('\n').length - 2;
}

/** True for a session of the same attempt that got under way. */
function isPlainSession(one: Ended, run: Ended): boolean {
  return (
    one.summary?.run_id === run.summary?.run_id &&
    one.summary !== undefined &&
    !isBegunAnew(one) &&
    one.isAlone
  );
}

export const sessionChecks: readonly Check[] = [ofAbout, ofOutput, ofEarlier, ofStore, ofSessions];

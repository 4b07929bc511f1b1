import {createHash} from 'node:crypto';
import {join} from 'node:path';
import {isStream} from '../model/commands.ts';
import type {End, Ended} from '../model/ended.ts';
import {keepsRejects, outputPath, statePath} from '../model/places.ts';
import {DENIED, REJECTED} from '../world/service.ts';
import {readRows, recordsOf, targets, targetsOf} from './output.ts';
import {faultIn} from './row-faults.ts';
import {type Check, rowsIn, type Scene, textOf, UNTRIED} from './scene.ts';

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
    if (isStream(run.spec) && said === undefined) return UNTRIED;
    if (after === undefined)
      return stood.includes(undefined) && said === undefined ? undefined : 'there is no output';
    if (
      said !== undefined &&
      run.isAlone &&
      !isStream(run.spec) &&
      run.lasting.get(path)?.equals(after) !== true
    )
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
  if (isStream(run.spec)) return [run];
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
    if (broken.length === 0 || !keepsRejects(spec)) return UNTRIED;
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
    if (run.stop !== undefined || (isStream(spec) && run.end !== 'wrote')) return UNTRIED;
    if (isStream(spec) && job?.paths.summary === undefined) return UNTRIED;
    if (summary === undefined) return 'there is none';
    // One that completed an earlier publishing may be cut short in its own, of which the output comes last.
    if (run.process.killed && isAnothers(output, after.get(join(statePath(spec), 'publish.json'))))
      return UNTRIED;
    const told = JSON.parse(summary.toString());
    // Nor did one that was killed once it had told why it stopped.
    if (told.output.bytes === null && !COMPLETE.has(told.exit_code)) return UNTRIED;
    if (told.output.bytes !== (isStream(spec) ? null : output.length))
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

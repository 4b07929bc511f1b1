import {outputPath, recordsOf, rejectsPath, summaryPath} from '../model/places.ts';
import type {Ended} from '../model/simulation.ts';
import {type Call, INVALID_TOKEN, NOTHING, REFUSED} from '../world/service.ts';
import {allLookedUp, faultOfRows, givenBack, type LookedUp, type OutputRow, readRows} from './rows.ts';
import {type Check, type Scene, show, UNTRIED} from './scene.ts';

/** Promises about what is left when a session has ended. */

const noFault: Check = {
  promise: 'No run ends with an internal error.',
  broken: ({run}) => (run.said?.code === 1 ? run.said.message : undefined),
};

const silent: Check = {
  promise: 'A run that could not start has sent nothing.',
  broken({run}) {
    if (run.end !== 'refused') return UNTRIED;
    return run.calls.length === 0 ? undefined : `${run.calls.length} calls: ${run.said?.message}`;
  },
};

/** True for a run that says that its output is in place. */
const isInPlace = ({end}: Ended) => end === 'wrote' || end === 'complete';

const whole: Check = {
  promise: 'The final path has a whole output, row for row and in order, or what was there before.',
  broken(scene) {
    const {run} = scene;
    if (run.spec.way === 'rows') return UNTRIED;
    const path = outputPath(run.spec);
    const stood = run.stood.map(snapshot => snapshot.get(path));
    const output = run.after.get(path);
    if (output === undefined)
      return stood.includes(undefined) && !isInPlace(run) ? undefined : 'there is no output';
    if (isInPlace(run) && run.isAlone && run.lasting.get(path)?.equals(output) !== true)
      return 'it may be gone after a power cut';
    const isNew = !stood.some(one => one?.equals(output));
    if (!isNew && (!isInPlace(run) || run.said?.code === undefined)) return UNTRIED;
    // A session may put in place what an earlier one wrote.
    const others = scene.sessions.filter(one => one !== run && outputPath(one.spec) === path).reverse();
    const makers = run.end === 'wrote' && run.isAlone ? [run] : [run, ...others];
    const faults = makers.map(maker => faultOfOutput(readRows(output.toString()), maker, scene));
    return faults.includes(undefined) ? undefined : faults.join(' | ');
  },
};

function faultOfOutput(lines: OutputRow[] | undefined, maker: Ended, scene: Scene): string | undefined {
  const {rows} = recordsOf(maker.input);
  if (lines?.length !== rows.length) return `session ${maker.nth}: ${lines?.length} rows for ${rows.length}`;
  return faultOfRows(lines, rows, maker, scene);
}

const streamed: Check = {
  promise: 'A program gets its rows back from the first on, each whole and in order, whatever ends the run.',
  broken(scene) {
    const {run} = scene;
    if (run.spec.way === 'file' || run.rows.length === 0) return UNTRIED;
    const {rows} = recordsOf(run.input);
    const lines = givenBack(run.rows);
    if (run.end === 'wrote' && lines.length !== rows.length) return `${lines.length} of ${rows.length} rows`;
    return faultOfRows(lines, rows, run, scene);
  },
};

/** The files of an output that this session, alone, has put in place; undefined if there is none. */
function published({run, sessions}: Scene) {
  const {spec, after, before} = run;
  const path = outputPath(spec);
  const output = after.get(path);
  if (spec.way === 'rows' || output === undefined || before.get(path)?.equals(output) === true)
    return undefined;
  if (!run.isAlone || run.end === 'stopped') return undefined;
  // This one may have finished the publishing of the last one, and been killed in its own.
  const last = sessions.findLast(one => one.nth < run.nth && outputPath(one.spec) === path);
  if (run.process.killed && last?.process.killed === true) return undefined;
  return {output, summary: after.get(summaryPath(spec)), rejects: after.get(rejectsPath(spec))};
}

const accounted: Check = {
  promise: 'Whoever sees the output finds the summary and the rejects that belong to it.',
  broken(scene) {
    const files = published(scene);
    if (files === undefined) return UNTRIED;
    if (files.summary === undefined) return 'there is no summary';
    const summary = JSON.parse(files.summary.toString());
    if (summary.output.bytes !== files.output.length)
      return `the summary tells of ${summary.output.bytes} bytes, and there are ${files.output.length}`;
    const rejects = linesOf(files.rejects);
    return rejects === summary.rows.rejected
      ? undefined
      : `the summary tells of ${summary.rows.rejected} rejects, and there are ${rejects}`;
  },
};

const linesOf = (file: Buffer | undefined) => (file?.toString().split('\n').length ?? 1) - 1;

const summed: Check = {
  promise: 'The summary counts the rows as they are, and those that could not be read.',
  broken({run}) {
    const {rows} = run.said?.summary ?? {};
    if (rows === undefined || run.end !== 'wrote') return UNTRIED;
    const records = recordsOf(run.input);
    const expected = [records.rows.length, records.rows.length, records.broken.length];
    const counted = [rows.written, rows.ok + rows.with_errors, rows.rejected];
    return counted.join() === expected.join()
      ? undefined
      : `written, ok or with errors, rejected: ${counted}, and there are ${expected}`;
  },
};

const setAside: Check = {
  promise: 'Rows that could not be read are in the rejects, each once.',
  broken({run}) {
    const {broken} = recordsOf(run.input);
    if (broken.length === 0 || run.spec.way === 'rows' || run.end !== 'wrote' || !run.isAlone) return UNTRIED;
    const rejects = run.after.get(rejectsPath(run.spec));
    const lost = broken.find(line => rejects?.toString().includes(line.split(',')[0] ?? line) !== true);
    if (lost !== undefined) return `"${lost}" is not there`;
    return linesOf(rejects) === broken.length ? undefined : `${linesOf(rejects)} for ${broken.length}`;
  },
};

/** Codes of the service's own, with which it rejects a value: that may be its answer, and may be none. */
const OWN_CODES: readonly string[] = [REFUSED, INVALID_TOKEN, NOTHING];

/** True for a result that is certainly not what was asked for. */
function isGap({status, error}: LookedUp): boolean {
  if (status === 'skipped') return error !== 'condition';
  return status === 'unknown' || (status === 'failed' && !OWN_CODES.includes(error));
}

/** The results in the rows that a session wrote, whether to a file or to its program. */
function resultsOf({spec, after, rows}: Ended): LookedUp[] {
  const output = after.get(outputPath(spec))?.toString();
  const lines = spec.way === 'rows' ? givenBack(rows) : (readRows(output ?? '') ?? []);
  return lines.flatMap(allLookedUp);
}

/** A second refusal is believed of a run that began this long after the first, by clocks that may be set between. */
const BELIEVED_MS = 11 * 3_600_000;

const believed: Check = {
  promise:
    'A refusal, or an answer that says nothing, is a value’s own once two runs half a day apart got it.',
  broken({run, calls}) {
    if (run.end !== 'wrote' || !run.isAlone) return UNTRIED;
    const told = ({operation, value, error}: LookedUp) =>
      calls.filter(
        call =>
          call.operation === operation &&
          call.value === value &&
          call.code === error &&
          call.spec.account === run.spec.account,
      );
    const isOwn = ({process, ledger}: Call) => process === run.process || (ledger && ledger === run.ledger);
    const isKept = (result: LookedUp) => run.said?.code === 0 || !told(result).some(isOwn);
    const kept = resultsOf(run).filter(result => OWN_CODES.includes(result.error) && isKept(result));
    const once = kept.find(result => {
      const times = told(result).map(({toldAt}) => toldAt);
      return Math.max(...times) - Math.min(...times) < BELIEVED_MS;
    });
    if (kept.length === 0) return UNTRIED;
    return once && `${JSON.stringify(once)} came to ${told(once).map(show).join(', ')}`;
  },
};

const isWanting = (result: LookedUp) => isGap(result) || OWN_CODES.includes(result.error);

const judged: Check = {
  promise:
    'Exit code 0 means that nothing is missing, 3 that something is, 5 or 7 that all is; a run that stopped has another.',
  broken({run}) {
    const {code, reason} = run.said ?? {};
    if (code === undefined || !run.isAlone) return UNTRIED;
    if (run.end === 'refused' || run.end === 'stopped')
      return code === 0 || code === 3 ? `it stopped for ${reason}, with ${code}` : undefined;
    if (run.end !== 'wrote') return UNTRIED;
    const results = resultsOf(run);
    const gap = results.find(isGap);
    if (code === 0) {
      const {broken} = recordsOf(run.input);
      const isWhole = gap === undefined && broken.length === 0;
      return isWhole ? undefined : `0, and there is ${JSON.stringify(gap ?? 'a reject')}`;
    }
    const isWithoutAnswer = results.some(isWanting) && !results.some(({status}) => status === 'ok');
    const isRight = code === 3 || (isWithoutAnswer && (code === 5 || code === 7));
    return isRight ? undefined : `it wrote all rows, and ended with ${code}`;
  },
};

const untouched: Check = {
  promise: 'The input is never changed.',
  broken({run, simulation}) {
    const changed = [...simulation.inputBytes()].find(
      ([path, bytes]) => run.after.get(path)?.equals(bytes) !== true,
    );
    return changed?.[0];
  },
};

const hidden: Check = {
  promise: 'No key gets into a file, a database or a message, though answers repeat it.',
  broken: ({run, simulation}) => (run.calls.length === 0 ? UNTRIED : simulation.keySeenIn(run)),
};

export const endChecks: readonly Check[] = [
  ...[noFault, silent, whole, streamed, accounted, summed, setAside, believed, judged, untouched, hidden],
];

/** Why the last command, once all trouble is over, did not end well. */
export function faultOfHealed(run: Ended): string | undefined {
  const {said} = run;
  if (said === undefined) return 'it was killed';
  const {code, reason, message} = said;
  // One that finds its output complete ends as the session that wrote it.
  const hasEnded = code === 0 || code === 3 || ['wrote', 'complete'].includes(run.end);
  // A list without a row that can be read has no output, whatever else was cured.
  const isRight = hasEnded || reason === 'refused' || reason === 'input_rejected';
  return isRight ? undefined : `${code} ${reason}: ${message}`;
}

import {exitCodes} from '../../../src/errors.ts';
import {isOfProgram, isStream} from '../model/commands.ts';
import type {Ended} from '../model/ended.ts';
import {keepsState, outputPath} from '../model/places.ts';
import type {Call} from '../world/service.ts';
import {readRows, recordsOf} from './output.ts';
import {faultOfRows} from './row-faults.ts';
import {type Check, type Scene, storedAs, TURN_MS, textOf, UNTRIED} from './scene.ts';

/** Rows that leave as they are finished: through a pipe, or to the program that gave them. */

/** The whole rows that its reader got: what is behind the last line's end was cut off. */
function rowsOf({after, spec}: Ended): string {
  const text = textOf(after.get(outputPath(spec)) ?? NOTHING);
  return text.slice(0, text.lastIndexOf('\n') + 1);
}

const NOTHING = Buffer.alloc(0);

const inOrder: Check = {
  promise: 'A stream has whole rows from the first on, each true and in its place, whatever ended its run.',
  broken(scene) {
    const {run} = scene;
    // A whole one is held against its input as a file is.
    if (!isStream(run.spec) || run.end === 'wrote') return UNTRIED;
    const lines = readRows(rowsOf(run), run.spec);
    if (lines.length === 0) return UNTRIED;
    const {rows} = recordsOf(run.input);
    const own = lines.map((_, index) => rows[index] ?? '');
    return faultOfRows(lines, own, run, scene);
  },
};

/** Answers are written for others this often; a busy machine may take a turn longer. */
const KEPT_WITHIN_MS = 250;

const kept: Check = {
  promise:
    'A stream is not resumed, but every answer is kept: the store has it, whatever ended the run, but for the last moments before a kill.',
  broken({run, storedNow}: Scene) {
    const {spec, calls, process, endedAt} = run;
    if (!isStream(spec) || spec.cache === 'none' || !run.storeIsSound || !run.storeIsOld) return UNTRIED;
    // A kill loses the answers that a locked store could not take yet.
    if (process.killed && run.storeWasLocked) return UNTRIED;
    const last = process.killed ? endedAt - KEPT_WITHIN_MS : endedAt;
    const answered = calls.filter(
      ({told, operation, toldAt}) => told === 'answered' && operation !== 'verify' && toldAt < last,
    );
    if (answered.length === 0 || process.refused !== false) return UNTRIED;
    const isKept = ({operation, value, toldAt}: Call) =>
      (storedNow.get(storedAs(operation, value, spec)) ?? 0) >= toldAt - TURN_MS;
    const lost = answered.find(call => !isKept(call));
    return lost && `${lost.operation} of ${lost.value}, call #${lost.nth}`;
  },
};

const tidy: Check = {
  promise: 'A run that saves no state leaves nothing of itself in the directory for temporary files.',
  broken({run, runs}) {
    if (keepsState(run.spec)) return UNTRIED;
    if (runs.some(({process}) => process.killed)) return UNTRIED;
    return run.temporaries.length === 0 ? undefined : run.temporaries.join(', ');
  },
};

const unread: Check = {
  promise: 'A run whose reader has closed the pipe stops with exit code 9, or had no more to write.',
  broken({run}) {
    const {spec, course, code, end, process} = run;
    const most = course.leavesAfter;
    if (spec.way !== 'stdout' || most === undefined || process.killed || run.error !== undefined)
      return UNTRIED;
    const {rows} = recordsOf(run.input);
    if (run.stop === 'output_unwritable' && code !== exitCodes.output) return `it ended with ${code}`;
    if (end !== 'wrote') return undefined;
    const lines = readRows(rowsOf(run), spec).length;
    return lines === rows.length ? undefined : `it wrote ${lines} of ${rows.length}, and ended with ${code}`;
  },
};

const unwanted: Check = {
  promise: 'Once a run is asked to end, or a program has left its loop, nothing is sent.',
  broken({run}) {
    const {unwantedAt, calls, spec} = run;
    if (unwantedAt === undefined || spec.fleet) return UNTRIED;
    const late = calls.find(({number}) => number > unwantedAt);
    return late && `${late.operation} of ${late.value}, call #${late.nth}`;
  },
};

const own: Check = {
  promise:
    'A program gets its own objects back, in its order. Anything else comes with its index. It is told why a run stopped.',
  broken({run}) {
    const isTried = isOfProgram(run.spec) && run.error === undefined && !run.process.killed;
    return isTried ? run.odd : UNTRIED;
  },
};

export const streamChecks: readonly Check[] = [inOrder, kept, tidy, unread, unwanted, own];

import type {Operation} from '../../../../src/operations/table.ts';
import type {Summary} from '../../../../src/report/summary.ts';
import type {Ended} from '../../model/ended.ts';
import {outputPath} from '../../model/places.ts';
import {type LookedUp, lookedUp, readRows, recordsOf, targets, targetsOf, valueIn} from '../output.ts';
import {isMore, type Scene, textOf} from '../scene.ts';

/** What all of these derive their numbers from: never from the program's own counts. */

/** A lookup of a row, with its value. */
export interface Cell extends LookedUp {
  readonly name: Operation;
  readonly value: string;
  /** The number of its row among the input's records. */
  readonly row: number;
}

/** A run that has just written its output, alone, and what its rows say. */
export interface Written {
  readonly run: Ended;
  readonly summary: Summary;
  readonly cells: readonly Cell[];
  readonly broken: number;
}

export const EMPTY = Buffer.alloc(0);

export function writtenIn({run}: Scene): Written | undefined {
  const {summary, spec, after, end, isAlone, input, ledger} = run;
  if (summary === undefined || ledger === undefined || !isAlone || end !== 'wrote') return undefined;
  const lines = input.split('\n').slice(1, -1);
  const {rows, broken} = recordsOf(input);
  const cells = readRows(textOf(after.get(outputPath(spec)) ?? EMPTY), spec).flatMap((line, index) =>
    targetsOf(spec).map(name => ({
      name: targets[name].operation,
      value: valueIn(rows[index] ?? '', name),
      row: 1 + lines.indexOf(rows[index] ?? ''),
      ...lookedUp(line, name),
    })),
  );
  return {run, summary, cells, broken: broken.length};
}

/** Says which of these numbers is told otherwise; undefined if none is. */
export function differing(told: object, derived: object, of = ''): string | undefined {
  for (const [name, expected] of Object.entries(derived)) {
    const said = (told as Record<string, unknown>)[name];
    if (JSON.stringify(said) !== JSON.stringify(expected))
      return `${of}${name} is ${JSON.stringify(said)}, and ${JSON.stringify(expected)} in truth`;
  }
  return undefined;
}

/** Says which of these numbers is outside its bounds. */
export function outside(
  told: Readonly<Record<string, number>>,
  bounds: Readonly<Record<string, readonly [least: number, most: number]>>,
  of = '',
): string | undefined {
  for (const [name, [least, most]] of Object.entries(bounds)) {
    const said = told[name] ?? 0;
    if (isMore(least, said) || isMore(said, most))
      return `${of}${name} is ${said}, and ${least} to ${most} in truth`;
  }
  return undefined;
}

export const CANNOT = new Set(['budget', 'deadline', 'outage', 'offline']);

export function isTrouble({status, error}: LookedUp): boolean {
  return status === 'failed' || status === 'unknown' || (status === 'skipped' && CANNOT.has(error));
}

/** True for a cell whose lookup came to something of this run: a call, or an answer that is within its age. */
export function isDone({status, isStale}: LookedUp): boolean {
  return (status === 'ok' || status === 'failed' || status === 'unknown') && !isStale;
}

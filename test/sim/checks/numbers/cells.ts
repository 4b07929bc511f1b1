import type {Operation} from '../../../../src/operations/table.ts';
import type {LookupCounts} from '../../../../src/report/summary.ts';
import {costOf} from '../../model/commands.ts';
import {DENIED, REJECTED} from '../../world/service.ts';
import {operationsOf} from '../output.ts';
import {type Check, callsInLedger, runsOfLedger, scopeOfCall, scopeOfSpec, UNTRIED} from '../scene.ts';
import {CANNOT, type Cell, differing, isDone, isTrouble, outside, writtenIn} from './written.ts';

/** Counts of rows, cells and values, from what the rows say. */

const ofRows: Check = {
  promise: 'The summary counts rows and cells as the output has them.',
  fields: [
    'rows',
    'lookups.*.values',
    'lookups.*.empty',
    'lookups.*.invalid',
    'lookups.*.repaired',
    'lookups.*.answered',
    'lookups.*.failed',
    'lookups.*.unknown',
    'lookups.*.skipped',
    'lookups.*.stale',
  ],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, broken, run} = written;
    const total = new Set(cells.map(({row}) => row)).size;
    const troubled = new Set(cells.filter(isTrouble).map(({row}) => row)).size;
    const rows = {
      read: total + broken,
      written: total,
      rejected: broken,
      ok: total - troubled,
      with_errors: troubled,
      blank_lines: 0,
      padded: 0,
    };
    const wrong = differing(summary.rows, rows, 'rows.');
    if (wrong !== undefined) return wrong;
    const named = Object.keys(summary.lookups).filter(name => cells.some(cell => cell.name === name));
    if (named.length !== operationsOf(run.spec).length && total > 0)
      return `it tells of ${named.join(', ')} alone`;
    for (const name of operationsOf(run.spec)) {
      const own = cells.filter(cell => cell.name === name);
      const count = (status: string) => own.filter(cell => cell.status === status).length;
      const derived = {
        values: own.length,
        empty: count('empty'),
        invalid: count('invalid'),
        repaired: 0,
        answered: count('ok'),
        failed: count('failed'),
        unknown: count('unknown'),
        skipped: count('skipped'),
        stale: own.filter(({isStale}) => isStale).length,
      };
      const other = differing(summary.lookups[name] ?? {}, derived, `lookups.${name}.`);
      if (other !== undefined) return other;
    }
    return undefined;
  },
};

const ofErrors: Check = {
  promise: 'The summary has each code of an error with its cells and the first of their rows.',
  fields: ['errors', 'repairs'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, broken} = written;
    const numbered = (rows: readonly number[] = []) => rows.slice(0, 10).join();
    const found = new Map<string, number[]>();
    for (const cell of cells)
      if (isTrouble(cell) || cell.status === 'invalid') {
        const code = `${cell.name}.${cell.error}`;
        found.set(code, [...(found.get(code) ?? []), cell.row]);
      }
    const told = summary.errors.filter(({code}) => !code.startsWith('rejected.'));
    const rejected = summary.errors.filter(({code}) => code.startsWith('rejected.'));
    if (rejected.reduce((sum, {count}) => sum + count, 0) !== broken) return `${broken} rows were rejected`;
    if (told.length !== found.size) return `${told.length} codes are told, of ${found.size}`;
    for (const {code, count, rows} of told)
      if (count !== found.get(code)?.length || numbered(rows) !== numbered(found.get(code)))
        return `${code} is said to be in ${count} (${rows}), and is in ${found.get(code)}`;
    if (summary.repairs.length > 0) return 'nothing was repaired';
    const counts = summary.errors.map(({count}) => count);
    return counts.join() === counts.toSorted((a, b) => b - a).join() ? undefined : 'they are not in order';
  },
};

const ofValues: Check = {
  promise:
    'Distinct values, those known from the store and those asked once for several cells are as the rows have them.',
  fields: ['lookups.*.distinct', 'lookups.*.from_store', 'lookups.*.rejected', 'lookups.*.deduplicated'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, run} = written;
    const calls = callsInLedger(scene).filter(call => scopeOfCall(call) === scopeOfSpec(run.spec));
    const sessions = runsOfLedger(scene);
    const isFirst = sessions.length === 1;
    // A value that was reserved at a kill may never have been sent, and its row may have another value now.
    const unsent = sessions.some(({input}) => input !== run.input) ? summary.calls.unconfirmed : 0;
    for (const name of operationsOf(run.spec)) {
      const told = summary.lookups[name];
      if (told === undefined) continue;
      const own = cells.filter(cell => cell.name === name && isDone(cell));
      const values = new Set(own.map(({value}) => value));
      const asked = new Set(calls.filter(call => call.operation === name).map(({value}) => value));
      // Values that could not be sent were looked up in the store anyway.
      const leftOut = cells.filter(
        ({name: of, status, error}) => of === name && status === 'skipped' && CANNOT.has(error),
      );
      const all = new Set([...values, ...asked, ...leftOut.map(({value}) => value)]).size;
      // A fleet's value may have been lost on its way to the workers: it is unknown, and was in no store.
      const lost = new Set(own.filter(({status}) => status === 'unknown').map(({value}) => value));
      const unasked = [...values].filter(value => !asked.has(value) && !lost.has(value));
      const bought = new Set(
        calls
          .filter(call => call.operation === name && (call.told === 'answered' || call.told === 'rejected'))
          .map(({value}) => value),
      );
      const free = [...values].filter(value => !bought.has(value)).length;
      const rejections = cells.filter(
        ({name: of, status, error}) => of === name && status === 'failed' && REJECTIONS.has(error),
      );
      const surely = rejections.filter(({value}) => isFirst && !asked.has(value)).length;
      const known = isFirst && name !== 'verify' ? unasked.length : 0;
      const mayBeKnown = name === 'verify' && isFirst ? 0 : isFirst ? free : values.size;
      const repeats = Math.max(0, own.length - told.distinct);
      const wrong = outside(
        {...told},
        {
          distinct: [values.size, all + unsent],
          from_store: [known, mayBeKnown],
          rejected: [surely, rejections.length],
          deduplicated: [repeats, repeats],
        },
        `lookups.${name}.`,
      );
      if (wrong !== undefined) return wrong;
    }
    return undefined;
  },
};

const REJECTIONS = new Set([REJECTED, DENIED]);

const ofSavings: Check = {
  promise: 'What is saved are the cells without a call of their own, at the price of a call.',
  fields: ['credits.saved'],
  broken(scene) {
    const written = writtenIn(scene);
    if (written === undefined) return UNTRIED;
    const {summary, cells, run} = written;
    const worth = (counted: (name: Operation) => number) =>
      operationsOf(run.spec).reduce(
        (all, name) => all + counted(name) * Math.round(costOf(run.spec, name) * 1_000),
        0,
      ) / 1_000;
    const told = (of: keyof LookupCounts) => worth(name => summary.lookups[name]?.[of] ?? 0);
    const skipped = (error: string) => (cell: Cell) => cell.status === 'skipped' && cell.error === error;
    const isLeftOut = (cell: Cell) =>
      cell.status === 'invalid' || skipped('condition')(cell) || skipped('filter')(cell);
    const worthOf = (is: (cell: Cell) => boolean) =>
      worth(name => cells.filter(cell => cell.name === name && is(cell)).length);
    return differing(
      summary.credits.saved,
      {
        dedupe: told('deduplicated'),
        store: told('from_store'),
        prefilter: worthOf(isLeftOut),
        by_condition: worthOf(skipped('condition')),
      },
      'credits.saved.',
    );
  },
};

export const cellsChecks: readonly Check[] = [ofRows, ofErrors, ofValues, ofSavings];

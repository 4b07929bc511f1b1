import {type Summary, summarySchema} from '../../src/report/summary.ts';
import bare from './bare.summary.json' with {type: 'json'};
import full from './full.summary.json' with {type: 'json'};

/** A night of forty thousand sign-ups with something of everything: a limit, repeats, trouble, an outage, a jump. */
export function fullSummary(changes: Partial<Summary> = {}): Summary {
  return {...summarySchema.parse(full), ...changes};
}

/** The least that a summary holds: one that was stopped before its first row. */
export function bareSummary(changes: Partial<Summary> = {}): Summary {
  return {...summarySchema.parse(bare), ...changes};
}

import {z} from 'zod';
import {list, only} from '../values.ts';
import {settingsIn} from './declare.ts';

const resultSetting = settingsIn('Results');

/** `changes.csv`, or a map of the file and of the columns by which rows are matched. */
const changes = z
  .union([z.string().min(1), only({file: z.string().min(1), key: list().optional()})], {
    error: 'expected a file, or {file: FILE, key: COLUMN}',
  })
  .transform(given => (typeof given === 'string' ? {file: given, key: undefined} : given));

/**
 * Settings of extra output files: for people who decide on the changes in the results, or who check the invoice.
 */
export const decisionSettings = {
  changes: resultSetting(changes.optional(), {
    value: 'FILE',
    description:
      "File for rows that are new or changed since the job's last output; in a job file also {file: FILE, key: COLUMN}.",
    uses: ['run'],
    shapes: 'summary',
  }),
  calls: resultSetting(z.string().min(1).optional(), {
    value: 'FILE',
    description: 'File with a line for each call and its credits (NDJSON), to check an invoice.',
    uses: ['run'],
    shapes: 'summary',
  }),
};

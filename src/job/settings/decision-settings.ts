import {z} from 'zod';
import {settingsIn} from './declare.ts';

const resultSetting = settingsIn('Results');

/** Settings of extra output files: for people who check the invoice. */
export const decisionSettings = {
  calls: resultSetting(z.string().min(1).optional(), {
    value: 'FILE',
    description: 'File with a line for each call and its credits (NDJSON), to check an invoice.',
    uses: ['run'],
    shapes: 'summary',
  }),
};

import {z} from 'zod';
import {besideNames, perBeside} from '../../operations/verify.ts';
import {only, pairsOf, readAs} from '../values.ts';

const KEYS = ['token=COL', 'action=ID', ...besideNames.map(name => `${name}=COL`)].join();
const VERDICT = `expected the column of session tokens, or ${KEYS}`;

/** The column of session tokens, the action identifier, and the columns whose values are sent with a token. */
const named = only({
  token: z.string(),
  action: z.string().optional(),
  ...perBeside(() => z.string().optional()),
});

/** `COL`, `token=COL,action=ID,id=COL,email=COL,phone=COL`, or a map in a job file. */
export const verdict = readAs(z.union([z.string(), named], {error: VERDICT}), VERDICT, given =>
  typeof given === 'object' ? given : named.safeParse(Object.fromEntries(pairsOf(given, 'token'))).data,
);

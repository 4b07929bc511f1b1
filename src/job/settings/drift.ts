import {z} from 'zod';
import {shareOf} from '../values.ts';

/** The share from which a change is drift, and `fails` if drift fails the run. `off`: no comparison. */
export type DriftSetting = 'off' | {readonly share: number; readonly fails: boolean};

const DRIFT = 'expected off, a share such as 10%, or fail 10%';

/** `off`, `10%` or `fail 10%`. */
export const drift = z.union([z.string(), z.number()], {error: DRIFT}).transform((given, context) => {
  const [, fails, text = ''] = /^(fail\s+)?(.*)$/.exec(String(given).trim()) ?? [];
  if (given === 'off') return given;
  const share = shareOf(text);
  if (share !== undefined) return {share, fails: fails !== undefined} satisfies DriftSetting;
  context.addIssue(DRIFT);
  return z.NEVER;
});

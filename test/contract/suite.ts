import {beforeAll, describe} from 'vitest';
import {intelligenceCases} from './intelligence.ts';
import type {Target} from './target.ts';
import {verifyCases} from './verify.ts';

/**
 * Declares the interface's contract as cases: each sentence of its tables and rules is one, by name. What it does not
 * show is asked of our own services alone (`ours`).
 * @param start is called once, before the first case
 */
export function contract(title: string, start: () => Promise<Target>): void {
  describe(title, () => {
    let target: Target;
    beforeAll(async () => {
      target = await start();
    });
    intelligenceCases(() => target);
    verifyCases(() => target);
  });
}

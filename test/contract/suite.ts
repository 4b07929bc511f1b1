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
    let target: Target | undefined;
    beforeAll(async () => {
      target = await start();
    });
    const current = (): Target => {
      if (target === undefined) throw new Error('the service under test did not start');
      return target;
    };
    intelligenceCases(current);
    verifyCases(current);
  });
}

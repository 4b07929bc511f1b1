import {test} from 'vitest';
import {expectNoViolation} from './play-seeds.ts';

test('500 sequences of commands break no promise, nor do some fresh ones', {timeout: 600_000}, () =>
  expectNoViolation([1, 2001], 250, 20),
);

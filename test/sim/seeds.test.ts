import {test} from 'vitest';
import {expectNoViolation} from './play-seeds.ts';

test('150 sequences of commands break no promise', {timeout: 600_000}, () => expectNoViolation([1], 150));

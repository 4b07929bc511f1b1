import {test} from 'vitest';
import {fuzzRun} from './fuzz.ts';

test('200 generated answers: no crash, no hang, no row missing', {timeout: 60_000}, () => fuzzRun(1, 200));

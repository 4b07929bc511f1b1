import {test} from 'vitest';
import {expectNoGrowth} from './many-nights.ts';

const nights = Number(process.env.SOAK_NIGHTS ?? 60);

test(`over ${nights} nights nothing grows for ever`, {timeout: 600_000}, () => expectNoGrowth(nights));

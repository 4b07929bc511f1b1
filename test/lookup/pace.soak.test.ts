import {test} from 'vitest';
import {expectPace, lane} from './dispatches.ts';

/** At least 98.5% of the rate is used while there is work; no sliding second holds more than it allows. */
const USED = 0.985;

test.each([10, 200, 1_000])('%i/s over ten seconds', {timeout: 60_000}, perSecond =>
  expectPace([lane('ip', perSecond)], 10.5, USED),
);

test('each operation at a rate of its own', {timeout: 60_000}, () =>
  expectPace([lane('ip', 150), lane('email', 30), lane('phone', 60, 2_000)], 10.5, USED),
);

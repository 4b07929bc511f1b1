import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import zlib from 'node:zlib';
import {afterAll, expect, test} from 'vitest';
import {lacks} from '../support/real-parts.ts';
import {toldIn} from '../support/told.ts';
import {openPlaces, type Way} from './case.ts';
import {diskCases, endCases} from './cases-ends.ts';
import {fleetCases} from './cases-fleet.ts';
import {inputCases} from './cases-input.ts';
import {settingsCases} from './cases-settings.ts';
import {errorCodes} from './error-codes.ts';

const all = {...settingsCases, ...inputCases, ...diskCases, ...endCases, ...fleetCases};
const cases = Object.entries<Way>(all).map(([name, by]) => {
  const [code = '', exit] = name.split(' ');
  return [code, Number(exit), by] as const;
});
const places = await openPlaces();
afterAll(() => places.close());
const path = fileURLToPath(new URL('messages.txt', import.meta.url));
const expectTold = toldIn(path, ': ');

/** Other tests have these: test/run/signals.slow.test.ts, test/run/written-to.test.ts, test/disk/no-locks.test.ts. */
const OTHER_EXITS = ['signal 143', 'input_changed 8', 'no_locks 9'];

/** Codes that can't come here: this Node can do what they are about, or there is no Redis. */
const notHere = new Set<string>([
  ...(Reflect.get(zlib, 'createZstdCompress') === undefined
    ? []
    : ['output_compressed', 'input_compression']),
  ...(lacks('redis') ? Object.keys(fleetCases).map(name => name.split(' ')[0] ?? '') : []),
]);

test.each(cases.filter(([code]) => !notHere.has(code)))('%s, exit %i', async (code, exitCode, by) => {
  await places.at(async place => {
    const {message = '', errorCode, code: ended} = await by(place);
    expect([errorCode, ended], message).toEqual([code, exitCode]);
    expectTold(`${code} (${exitCode})`, places.plain(message, place));
  });
});

test('each code has a case, with the exit code that the docs have', () => {
  const documented = errorCodes.flatMap(({code, exits}) => exits.map(exit => `${code} ${exit}`));
  const known = cases.map(([code, exitCode]) => `${code} ${exitCode}`);
  expect(documented.filter(one => !OTHER_EXITS.includes(one)).sort()).toEqual(known.sort());
});

test('messages.txt has no other code', () => {
  const told = readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map(line => line.split(' ')[0] ?? '');
  expect(told.filter(code => !cases.some(([known]) => known === code))).toEqual([]);
});

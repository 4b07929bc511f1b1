import {appendFileSync, cpSync, existsSync, renameSync, rmSync, statfsSync, writeFileSync} from 'node:fs';
import {afterAll, afterEach, beforeAll, expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {held} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {until} from '../support/until.ts';
import {dateOf, type Month, openMonth, ROWS} from './month.ts';

/**
 * An operator's month with the job of docs/nights.md: each night is a process of its own, at its own date. After each
 * night: what the operator sees with --quiet. At the end: the money. The tests are the month, in their order.
 */
let month: Month;
/** Credits of the run whose state is damaged. */
let damaged = 0;

beforeAll(async () => {
  month = await openMonth();
  month.account(5_000);
});
afterEach(() => {
  month.service.setScript(undefined);
  month.service.setLatency(2);
});
afterAll(() => month[Symbol.asyncDispose]());

const SILENT = {code: 0, stdout: '', stderr: '', success: 1};
const saying = (code: number, text: RegExp, success = 0) => ({
  code,
  stderr: expect.stringMatching(text),
  success,
});
/** Exit 0 with warnings, which --quiet does not hide. */
const warned = (text: RegExp) => saying(0, text, 1);
/** The next night's warnings about a day that it finishes first. */
const finished = (day: number) =>
  new RegExp(
    `^Warning: The run of ${dateOf(day)} was interrupted[^\\n]*\\nWarning: [^\\n]* 30 rows written [^\\n]*\\n$`,
  );

test('nights without trouble are silent', async () => {
  for (const day of [1, 2]) expect(await month.night(day)).toMatchObject(SILENT);
  expect(month.rows(2)).toHaveLength(ROWS);
});

test('killed, and run again by hand', async () => {
  expect(await month.night(3, {signal: ['SIGKILL', 10]})).toMatchObject({signal: 'SIGKILL'});
  expect(await month.again(3)).toMatchObject(SILENT);
});

test('drained: 143, and the next night completes that day first', async () => {
  expect(await month.night(4, {signal: ['SIGTERM', 10]})).toMatchObject(saying(143, /^Stopped: .*SIGTERM/));
  expect(await month.night(5)).toMatchObject(warned(finished(4)));
  expect([month.rows(4).length, month.rows(5).length]).toEqual([ROWS, ROWS]);
});

test('a missed day is run with --date; the night after it does not cry of drift', async () => {
  month.sandbox.write(`exports/signups-${dateOf(6)}.csv`, month.list(6));
  expect(await month.night(7)).toMatchObject(SILENT);
  expect(await month.again(7, {flags: ['--date', dateOf(6)]})).toMatchObject(SILENT);
  expect(month.rows(6)).toHaveLength(ROWS);
});

test('an outage in the night: written with gaps, which are told; the same command pays for the rest', async () => {
  month.service.setScript(({call}) => (call % 60 > 5 ? reply.unavailable() : undefined));
  const seen = await month.night(8);
  expect(seen).toMatchObject(saying(3, /rows? of 30 have gaps \((outage|lookups_failed)\)/, 1));
  month.service.setScript(undefined);
  expect(await month.again(8)).toMatchObject(SILENT);
});

test('an outage in which nothing is answered is no success', async () => {
  month.service.setScript(() => reply.unavailable());
  month.sandbox.write(`exports/signups-${dateOf(10)}.csv`, month.list(40));
  expect(await month.again(10)).toMatchObject(saying(5, /No row has an answer \(outage\)/));
  month.service.setScript(undefined);
  expect(await month.again(10)).toMatchObject(SILENT);
});

const NOT_ALLOWED =
  /Stopped: 10 ip values in a row were rejected with "forbidden".*Check BULK_ENRICH_API_KEY/;
test.each([
  [11, 'the key was replaced', () => reply.unauthorized(), /^Stopped: .*BULK_ENRICH_API_KEY/s],
  [12, '403 for everything', () => reply.forbidden(), NOT_ALLOWED],
])('night %i, %s: exit 6; with the right key the same command resumes', async (day, _, script, text) => {
  month.service.setScript(script);
  expect(await month.night(day)).toMatchObject(saying(6, text));
  month.service.setScript(undefined);
  expect(await month.again(day)).toMatchObject(SILENT);
});

test('the state moved to another directory in the middle of a night', async () => {
  await month.night(13, {signal: ['SIGKILL', 10]});
  const {home, path} = month.sandbox;
  cpSync(`${home}/state`, `${home}/elsewhere`, {recursive: true});
  rmSync(`${home}/state`, {recursive: true});
  renameSync(`${home}/elsewhere`, `${home}/state`);
  renameSync(path('nightly-signups.yaml'), path('moved.yaml'));
  renameSync(path('moved.yaml'), path('nightly-signups.yaml'));
  expect(await month.again(13)).toMatchObject(SILENT);
});

test('the clock goes two days back, and forward again', async () => {
  const env = {NIGHT: `${dateOf(11)}T02:15:00Z`};
  expect(await month.night(14, {env, flags: ['--date', dateOf(14)]})).toMatchObject(
    warned(/^Warning: The clock of this machine says .* set it\.\n$/),
  );
  expect(await month.night(15)).toMatchObject(SILENT);
});

test.skipIf(lacks('mounts'))(
  'a full disk: exit 9 with the path; with room the same command resumes',
  async () => {
    const filler = month.sandbox.path('scored/filler');
    const {bavail, bsize} = statfsSync(month.sandbox.path('scored'));
    writeFileSync(filler, Buffer.alloc(bavail * bsize - 40_960));
    const full = await month.night(16);
    rmSync(filler);
    expect(full).toMatchObject({code: 9, stderr: expect.stringContaining('scored')});
    expect(await month.again(16)).toMatchObject(SILENT);
  },
);

test('two runs at once: the second ends with 11 and says why', async () => {
  month.sandbox.write(`exports/signups-${dateOf(17)}.csv`, month.list(17));
  const {gate, letGo} = held();
  month.service.setScript(() => gate);
  const {calls} = month.service.ledger;
  const first = month.start(17);
  await until(() => month.service.ledger.calls > calls);
  expect(await month.again(17)).toMatchObject(saying(11, /^Error: Another run is writing this output/, 1));
  letGo();
  const {code, stderr} = await first.outcome;
  expect([code, stderr]).toEqual([0, '']);
});

test('a list that is still being written is read again: the whole list is in the output', async () => {
  const path = month.sandbox.write(`exports/signups-${dateOf(18)}.csv`, month.list(18));
  month.service.setLatency(100);
  const {calls} = month.service.ledger;
  const run = month.again(18);
  await until(() => month.service.ledger.calls > calls);
  appendFileSync(path, month.list(40, 60).split('\n').slice(1).join('\n'));
  expect(await run).toMatchObject(warned(/so it is read again until it is still for \d+ m?s\./));
  month.service.setLatency(2);
  expect(month.rows(18)).toHaveLength(ROWS + 60);
});

test('no list: exit 8 without advice to take yesterday’s; once it is there, the same command works', async () => {
  const seen = await month.again(19);
  expect(seen).toMatchObject(saying(8, /does not exist/));
  expect(seen.stderr).not.toContain(dateOf(18));
  expect(await month.night(19)).toMatchObject(SILENT);
});

test('the run’s credits are used up: exit 7; with a higher limit the same command resumes', async () => {
  expect(await month.night(20, {flags: ['--max-credits', '5']})).toMatchObject(saying(7, /--max-credits/));
  expect(await month.again(20, {flags: ['--max-credits', '500']})).toMatchObject(SILENT);
});

test('the account’s day is used up: exit 7; the next night completes that day', async () => {
  month.account(7);
  expect(await month.night(21)).toMatchObject(
    saying(7, new RegExp(`max_credits_per_day .*${dateOf(22)}T00:00:00`, 's')),
  );
  month.account(5_000);
  expect(await month.night(22)).toMatchObject(warned(finished(21)));
  expect([month.rows(21).length, month.rows(22).length]).toEqual([ROWS, ROWS]);
});

test('too many errors: exit 4; the same command asks the failed values again', async () => {
  month.service.setScript(({call}) => (call % 2 === 0 ? reply.error(500, 'broken') : undefined));
  const flags = ['--max-errors', '3', '--resends', '0'];
  expect(await month.night(23, {flags})).toMatchObject(saying(4, /--max-errors/));
  month.service.setScript(undefined);
  expect(await month.again(23, {flags})).toMatchObject(SILENT);
});

test('the account’s counts are lost in the middle of a day: told, and the limit holds', async () => {
  await month.night(24, {signal: ['SIGTERM', 30]});
  rmSync(`${month.sandbox.home}/state/bulk-enrich/daily-credits.db`);
  expect(await month.again(24)).toMatchObject(saying(0, /lacked \d+ credits/, 1));
});

test('a damaged state: exit 10; --restart begins a new count, and pays for no stored answer', async () => {
  const before = month.service.ledger.credits;
  await month.night(25, {signal: ['SIGKILL', 30]});
  damaged = month.service.ledger.credits - before;
  const run = month.sandbox.path(`scored/signups-${dateOf(25)}.csv.run`);
  for (const name of ['ledger.db-wal', 'ledger.db-shm']) rmSync(`${run}/${name}`, {force: true});
  writeFileSync(`${run}/ledger.db`, 'no database');
  expect(await month.again(25)).toMatchObject(saying(10, /--restart/));
  const renamed = /^Warning: The run's saved state is damaged\. It was renamed to [^\n]*\n$/;
  expect(await month.again(25, {flags: ['--restart']})).toMatchObject(warned(renamed));
  expect(existsSync(run)).toBe(false);
});

test('a day whose list is lost: exit 3 each night until it is done', async () => {
  await month.night(26, {signal: ['SIGTERM', 10]});
  const list = month.sandbox.path(`exports/signups-${dateOf(26)}.csv`);
  renameSync(list, `${list}.lost`);
  const told = new RegExp(
    `^Warning: [^\\n]*\\nWarning: The run of ${dateOf(26)}: [^\\n]* does not exist[^\\n]*--date`,
  );
  for (const day of [27, 28]) expect(await month.night(day)).toMatchObject(saying(3, told, 1));
  expect(month.sandbox.read('scored/nightly.prom')).toMatch(/^bulk_enrich_unfinished_days\{.*\} 1$/m);
  renameSync(`${list}.lost`, list);
  expect(await month.again(28)).toMatchObject(warned(finished(26)));
  expect(await month.again(28, {flags: ['--date', dateOf(27)]})).toMatchObject(SILENT);
  expect(month.sandbox.read('scored/nightly.prom')).toMatch(/^bulk_enrich_unfinished_days\{.*\} 0$/m);
});

const someAnswers = (given: unknown) => reply.json({success: true, data: given});
test.each([
  [29, 'a night of empty answers', {}, /email answers? could not be used: no known field has a value/],
  [30, 'a night of renamed fields', {isValid: true}, /unknown: isValid/],
])('night %i, %s: told, none is kept, and the same command asks again', async (day, _, given, text) => {
  month.service.setScript(({operation}) => (operation === 'email' ? someAnswers(given) : undefined));
  expect(await month.night(day)).toMatchObject(saying(3, text, 1));
  expect(month.rows(day).filter(row => row.includes('bad_response'))).toHaveLength(ROWS - 10);
  month.service.setScript(undefined);
  expect(await month.again(day)).toMatchObject(SILENT);
});

test('each output has its run in the list of runs, and the money is the service’s', async () => {
  const codes = (await month.runs()).map(({exit_code: code}) => code);
  const outputs = month.sandbox.files().filter(name => /^scored\/signups-[\d-]+\.csv$/.test(name));
  expect(codes.filter(code => code === 0)).toHaveLength(outputs.length);
  const {spent, maybe_spent: maybe} = await month.spent();
  const {credits} = month.service.ledger;
  expect(spent).toBeLessThanOrEqual(credits);
  // The history has a killed run as of its last minute. Its ledger, which completes that, was damaged.
  expect(credits).toBeLessThanOrEqual(spent + maybe + damaged);
});

import {existsSync, readFileSync, statSync} from 'node:fs';
import {expect, test, vi} from 'vitest';
import {CLAIMS_FILE, Claims} from '../../../src/ledger/answers/claims.ts';
import {openStoreFile, STORE_FILE} from '../../../src/ledger/answers/store-file.ts';
import {pruneStoreFile, StoreAdmin} from '../../../src/ledger/answers/upkeep.ts';
import {type Operation, perOperation} from '../../../src/operations/table.ts';
import {newDirectory} from '../../support/new-directory.ts';

const DAY = 86_400_000;
const NOW = 20_000 * DAY;
const within = newDirectory();
const INSERT = 'INSERT INTO answer (key, scope, operation, bought_at, data) VALUES';

/** Writes answers of one operation, of these ages in days. Their keys are `ip5-0`: operation, age and place. */
function fill(operation: string, ages: readonly number[], more: {scope?: string; data?: string} = {}): void {
  const {scope = 's', data = '{"text":"xxxxxxxxxx"}'} = more;
  const db = openStoreFile(within(), 0);
  const put = db.prepare(`${INSERT} (?, ?, ?, ?, ?)`);
  db.transaction(() => {
    for (const [n, age] of ages.entries())
      put.run(`${operation}${age}-${n}`, scope, operation, NOW - age * DAY, data);
  });
  db.close();
}

/** Notes that a run of two days ago asked for the values with these keys. */
function noteAsked(keys: readonly string[]): void {
  const db = openStoreFile(within(), 0);
  for (const key of keys) db.prepare(`${INSERT} (?, 's asked', 'asked', ?, '')`).run(key, NOW - 2 * DAY);
  db.close();
}

function kept(): string[] {
  const db = openStoreFile(within(), 0);
  const rows = db.query(['operation', 'bought_at'], 'FROM answer ORDER BY operation, bought_at DESC').all();
  db.close();
  return rows.map(({operation, bought_at}) => `${operation} ${(NOW - Number(bought_at)) / DAY}`);
}

/** A run that uses answers up to an age, so many days later. */
const run = (days: number, later = 0) =>
  pruneStoreFile(within(), {ages: perOperation(() => days * DAY), now: NOW + later * DAY, warn: () => {}});

test('answers past every age in use are removed; an age counts for five weeks after its last run', async () => {
  fill('ip', [0]);
  await run(1, -1);
  await run(30);
  fill('ip', [2, 20, 32]);
  fill('phone', [100]);
  await run(1);
  expect(kept()).toEqual(['ip 0', 'ip 2', 'ip 20']);
  for (const later of [30, 36, 60]) await run(3, later);
  expect(kept()).toEqual([]);
});

test('a store that was used before it kept itself small has its ages found out first', async () => {
  fill('ip', [300]);
  await run(1);
  await run(1, 34);
  expect(kept()).toEqual(['ip 300']);
  await run(1, 60);
  expect(kept()).toEqual([]);
});

test('an age without end keeps all', async () => {
  fill('ip', [0]);
  await run(30, -1);
  fill('ip', [40, 50]);
  await run(Number.POSITIVE_INFINITY);
  expect(kept()).toEqual(['ip 0', 'ip 40', 'ip 50']);
  for (const later of [30, 60, 70]) await run(45, later);
  expect(kept()).toEqual([]);
});

test('a store with too many old answers for the upkeep of one night is kept up over some nights', async () => {
  fill('ip', [0]);
  await run(1, -1);
  fill('ip', Array(5_000).fill(40));
  let now = 0;
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => (now += 900));
  for (const left of [3_001, 1_001, 1]) {
    await run(30);
    expect(kept()).toHaveLength(left);
  }
  clock.mockRestore();
});

test('each operation has ages of its own: a job that keeps one for a month keeps no other as long', async () => {
  fill('ip', [0]);
  await run(1, -1);
  fill('ip', [5]);
  fill('email', [5, 20]);
  fill('phone', [5]);
  const days: Partial<Record<Operation, number>> = {ip: 3, email: 10, phone: 30};
  const ages = perOperation(name => (days[name] ?? 0) * DAY);
  await pruneStoreFile(within(), {ages, now: NOW, warn: () => {}});
  expect(kept()).toEqual(['email 5', 'ip 0', 'phone 5']);
});

test('upkeep does not make a store that is missing', async () => {
  await run(1);
  expect(existsSync(within(STORE_FILE))).toBe(false);
});

test('upkeep does not wait for a run that writes, and does not stop one that reads', async () => {
  fill('ip', [0]);
  await run(1, -1);
  fill('ip', [5]);
  const other = openStoreFile(within(), 0);
  other.exec('BEGIN IMMEDIATE');
  await expect(run(1)).rejects.toMatchObject({code: expect.stringMatching(/^SQLITE_BUSY/)});
  other.exec('COMMIT');
  other.close();
  await run(1);
  expect(kept()).toEqual(['ip 0']);
});

const REJECTED = {scope: 's rejected', data: '"odd"'};

test('store prune removes answers and rejections each by its own age, and nothing of other operations', async () => {
  fill('ip', [1, 5, 20]);
  fill('email', [300]);
  fill('ip', [3, 8], REJECTED);
  const admin = StoreAdmin.open(within());
  expect(await admin?.prune('ip', {answers: 10 * DAY, rejections: 7 * DAY}, NOW)).toBe(2);
  expect(kept()).toEqual(['email 300', 'ip 1', 'ip 3', 'ip 5']);
  expect(await admin?.prune('ip', {answers: 10 * DAY, rejections: 2 * DAY}, NOW)).toBe(1);
  admin?.close();
  expect(kept()).toEqual(['email 300', 'ip 1', 'ip 5']);
});

test('store purge removes a value of every account, answered or rejected, and nothing else', () => {
  for (const more of [{}, {scope: 'another'}, REJECTED]) fill('ip', [1, 2, 3], more);
  noteAsked(['ip1-0', 'ip2-1']);
  const admin = StoreAdmin.open(within());
  expect([admin?.purge(['ip1-0', 'ip3-2']), admin?.purge(['ip1-0'])]).toEqual([6, 0]);
  expect(admin?.stats()).toMatchObject([{operation: 'ip', answers: 3}]);
  admin?.close();
  expect(kept().filter(row => row.startsWith('asked'))).toHaveLength(1);
});

test('store purge by time removes and counts what was bought in it, of one operation or all, whatever the clock said', async () => {
  fill('ip', [-400, 1, 2, 3]);
  fill('email', [2]);
  fill('ip', [2], REJECTED);
  noteAsked(['ip2-1', 'email2-0']);
  const admin = StoreAdmin.open(within());
  const of = async (...[from, to, name]: [number, number?, Operation?]) =>
    admin?.purgeBought(NOW - from * DAY, to === undefined ? undefined : NOW - to * DAY, name);
  expect([await of(2, 1, 'email'), await of(2, 1), await of(2)]).toEqual([1, 2, 2]);
  admin?.close();
  expect(kept()).toEqual(['asked 2', 'asked 2', 'ip 3']);
});

test('store purge removes what a killed run has left for the next one', async () => {
  openStoreFile(within(), 0).close();
  const claims = new Claims(within(), {now: () => NOW, onTrouble: expect.unreachable, inherit: () => true});
  const bytes = () => readFileSync(within(CLAIMS_FILE), 'latin1');
  for (const purge of ['one', 'time']) {
    claims.claim(['value'], [['key', 'scope', 'email', NOW, '{"email":"person@example.com"}']]);
    expect([purge, bytes().includes('person@')]).toEqual([purge, true]);
    const admin = StoreAdmin.open(within());
    if (purge === 'one') admin?.purge(['key']);
    else await admin?.purgeBought(0, NOW);
    admin?.close();
    expect([purge, bytes().includes('person@')]).toEqual([purge, false]);
  }
  claims.close();
});

test('store stats tells the oldest and the newest answer of each operation', () => {
  fill('ip', [3, 1, 9]);
  fill('email', [2]);
  const admin = StoreAdmin.open(within());
  const age = (at: number) => (NOW - at) / DAY;
  const ages = admin?.stats().map(each => ({...each, oldest: age(each.oldest), newest: age(each.newest)}));
  admin?.close();
  expect(ages).toEqual([
    {operation: 'email', answers: 1, oldest: 2, newest: 2},
    {operation: 'ip', answers: 3, oldest: 9, newest: 1},
  ]);
});

test('store prune lets runs write in between, gives space back, and leaves nothing readable of removed answers', async () => {
  const ages = Array.from({length: 9_000}, (_, n) => 10 + (n % 90));
  fill('ip', ages, {data: JSON.stringify('x'.repeat(300))});
  fill('ip', [1, 2]);
  const path = within(STORE_FILE);
  const before = statSync(path).size;
  const admin = StoreAdmin.open(within());
  const run = openStoreFile(within(), 0);
  const put = run.prepare(`${INSERT} (?, 's', 'ip', ?, '{}')`);
  let isOver = false;
  const writing = (async () => {
    let written = 0;
    for (; !isOver; await new Promise(setImmediate)) written += put.run(`other-${written}`, NOW);
    return written;
  })();
  expect(await admin?.prune('ip', {answers: 5 * DAY, rejections: 5 * DAY}, NOW)).toBe(9_000);
  await admin?.giveBack();
  isOver = true;
  expect(await writing).toBeGreaterThan(5);
  for (const db of [admin, run]) db?.close();
  expect(statSync(path).size).toBeLessThan(before / 5);
  expect(readFileSync(path).includes('ip10-0')).toBe(false);
  expect(readFileSync(path).includes('x'.repeat(100))).toBe(false);
});

test('store prune gives all free pages back, though others free more of them meanwhile', async () => {
  fill('ip', Array(4_000).fill(1), {data: JSON.stringify('x'.repeat(2_000))});
  const [admin, other] = [StoreAdmin.open(within()), openStoreFile(within(), 0)];
  other.exec('DELETE FROM answer WHERE id <= 1000');
  const giving = admin?.giveBack();
  other.exec('DELETE FROM answer WHERE id <= 3900');
  await giving;
  expect(other.pragma('freelist_count')).toBe(0);
  for (const db of [admin, other]) db?.close();
});

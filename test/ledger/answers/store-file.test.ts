import {chmodSync, existsSync, renameSync, statSync} from 'node:fs';
import {expect, test} from 'vitest';
import {openStoreFile, STORE_FILE, StoreFile} from '../../../src/ledger/answers/store-file.ts';
import type {Answer} from '../../../src/ledger/lookup-outcome.ts';
import type {Operation} from '../../../src/operations/table.ts';
import {newDirectory} from '../../support/new-directory.ts';
import {withFs} from '../../support/with-fs.ts';

const NOW = Date.parse('2031-05-06T02:00:00Z');
const within = newDirectory();

const DAY = 86_400_000;
const open = (scope = 'here', now = NOW) => new StoreFile(within(), scope, () => now, 0);
const answer = (boughtAt: number): Answer => ({status: 'ok', data: `{"at":${boughtAt}}`, boughtAt});
const rejected = {status: 'failed', error: 'odd', rejected: 'twice'} as const;
const rejection = (boughtAt: number): Answer => ({...rejected, boughtAt});
const knows = (file: StoreFile, operation: Operation) =>
  file.latest(operation, 1, Number.MAX_SAFE_INTEGER).length > 0;
const write = (file: StoreFile, key: string, ...outcomes: Answer[]) =>
  file.write(outcomes.map(outcome => file.rowOf({operation: 'ip', key, outcome})));

test('a rejection is kept beside the answer that was paid for, whichever is later', () => {
  const file = open();
  write(file, 'a', answer(NOW - 2), rejection(NOW - 1));
  write(file, 'b', rejection(NOW - 2), answer(NOW - 1));
  const found = file.find(['a', 'b', 'c']);
  expect(new Set(found.get('a'))).toEqual(new Set([answer(NOW - 2), rejection(NOW - 1)]));
  expect(new Set(found.get('b'))).toEqual(new Set([rejection(NOW - 2), answer(NOW - 1)]));
  expect(found.size).toBe(2);
  file.close();
});

test('a later answer replaces an earlier one, and an earlier one that is written later does not', () => {
  const file = open();
  for (const at of [NOW - 5, NOW - 3, NOW - 4]) write(file, 'a', answer(at));
  expect(file.find(['a']).get('a')).toEqual([answer(NOW - 3)]);
  file.close();
});

test('only an answer, of the same account, shows that the service answers an operation', () => {
  const [file, other] = [open(), open('there')];
  write(file, 'a', rejection(NOW - 1));
  write(other, 'a', answer(NOW - 1));
  expect([knows(file, 'ip'), knows(other, 'ip'), knows(other, 'email')]).toEqual([false, true, false]);
  expect(file.find(['a']).get('a')).toEqual([rejection(NOW - 1)]);
  write(file, 'b', answer(NOW));
  expect(knows(file, 'ip')).toBe(true);
  for (const one of [file, other]) one.close();
});

test('nothing is written to a file that was removed or replaced', () => {
  const file = open();
  write(file, 'a', answer(NOW));
  renameSync(within(STORE_FILE), within('moved.db'));
  expect(() => write(file, 'b', answer(NOW))).toThrow('it was removed while it was in use');
  open().close();
  expect(() => write(file, 'b', answer(NOW))).toThrow('it was removed while it was in use');
  file.close();
});

test.each([
  ['NFS', 0x6969],
  ['SMB', 0x517b],
  ['CIFS', 0xff534d42],
  ['SMB2', 0xfe534d42],
])('a store on %s is not used: two runs could write to it at once', async (_, type) => {
  const statfsSync = () => ({type}) as never;
  await withFs(
    () => ({statfsSync}),
    () => expect(() => open()).toThrow('network file system'),
  );
  expect(existsSync(within(STORE_FILE))).toBe(false);
});

test('a store that others could read is closed to them', () => {
  open().close();
  const path = within(STORE_FILE);
  chmodSync(path, 0o644);
  open().close();
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test.each(['null', '3', '{"cut', 'true'])('what is neither an answer nor a code is not found: %s', data => {
  const file = open();
  write(file, 'a', answer(NOW));
  write(file, 'b', answer(NOW));
  const db = openStoreFile(within(), 0);
  db.prepare("UPDATE answer SET data = ? WHERE key = 'a'").run(data);
  db.close();
  expect([...file.find(['a', 'b']).keys()]).toEqual(['b']);
  file.close();
});

test('an answer that is dated ahead, by a wrong clock, is replaced by the next one', () => {
  const ahead = open('here', NOW + 20 * DAY);
  write(ahead, 'a', answer(NOW + 20 * DAY));
  ahead.close();
  const file = open();
  write(file, 'a', answer(NOW));
  expect(file.find(['a']).get('a')).toEqual([answer(NOW)]);
  file.close();
});

import {renameSync} from 'node:fs';
import {expect, test} from 'vitest';
import {SharedDate} from '../../src/disk/shared-date.ts';
import type {KeptAnswer} from '../../src/ledger/entry.ts';
import type {Ledger} from '../../src/ledger/ledger.ts';
import {type AnswerStore, openStore} from '../../src/store/store.ts';
import {STORE_FILE} from '../../src/store/store-file.ts';
import {newDirectory} from '../support/new-directory.ts';
import {whole} from '../support/whole.ts';

const within = newDirectory();

const NOW = Date.parse('2031-05-06T02:00:00Z');

/** A run's store. `buy` books an answer in the run's ledger, and puts it into the store. */
function open({stored = 0} = {}) {
  const bought: KeptAnswer[] = [];
  /** `meanwhile` is called once, while the store reads the ledger. */
  const reading = {meanwhile() {}};
  const store = openStore(() => within(), {
    scope: 'here',
    judge: () => 'fresh',
    date: new SharedDate(
      () => NOW,
      () => {},
    ),
    onTrouble: () => {},
    own: {
      stored,
      ledger: whole<Ledger>({
        get bought() {
          return bought.length;
        },
        *answersAfter(from: number) {
          yield {scope: 'here', answers: bought.slice(from)};
          const {meanwhile} = reading;
          reading.meanwhile = () => {};
          meanwhile();
        },
      }),
    },
  });
  const buy = (...keys: readonly string[]) => {
    for (const key of keys) {
      const answer = {operation: 'ip', key, outcome: {status: 'ok', data: '{}', boughtAt: NOW}} as const;
      bought.push(answer);
      store.put(answer);
    }
  };
  return {store, reading, buy};
}

const numbered = (name: string, count: number) => Array.from({length: count}, (_, n) => `${name}${n}`);
const found = (store: AnswerStore, keys: readonly string[]) => store.find(keys, 'ip')?.size;

test('answers wait for no flush: they are written when the store closes', () => {
  const {store, buy} = open();
  buy('a', 'b');
  store.close();
  const next = open();
  expect(found(next.store, ['a', 'b', 'c'])).toBe(2);
  next.store.close();
});

test('a store that is away for a moment gets all answers that it missed, once it is back', async () => {
  const {store, buy} = open();
  await store.flush();
  const path = within(STORE_FILE);
  renameSync(path, `${path}.away`);
  buy('a', 'b');
  expect(await store.flush()).toBe(false);
  expect(store.trouble?.missed).toBe(2);
  renameSync(`${path}.away`, path);
  expect(await store.flush(true)).toBe(true);
  expect([found(store, ['a', 'b']), store.stored, store.trouble]).toEqual([2, 2, undefined]);
  store.close();
});

test('answers that can’t be written while a run catches up with earlier ones are written after those', async () => {
  const path = within(STORE_FILE);
  const {store, reading, buy} = open();
  const late = numbered('late', 500);
  buy('early');
  reading.meanwhile = () => {
    renameSync(path, `${path}.away`);
    // So many are written at once.
    buy(...late);
    renameSync(`${path}.away`, path);
  };
  expect(await store.flush()).toBe(false);
  expect([store.stored, store.trouble?.missed]).toEqual([1, 500]);
  expect(await store.flush(true)).toBe(true);
  expect([found(store, ['early', ...late]), store.stored]).toEqual([501, 501]);
  store.close();
});

import {expect, test} from 'vitest';
import {newDirectory} from '../support/new-directory.ts';
import {lists} from './lists/all.ts';
import {look} from './lists/situation.ts';

const within = newDirectory();

test('the table has 112 lists or more', () => expect(lists.length).toBeGreaterThanOrEqual(112));

test.each(lists)('$name', async situation => {
  const {becomes, said} = await look(within(), situation);
  expect(becomes.replaceAll(`${within()}/`, ''), said).toBe(situation.becomes);
  for (const part of situation.says) expect(said.replaceAll(`${within()}/`, '')).toContain(part);
});

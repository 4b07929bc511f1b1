import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {addresses} from './lists/addresses.ts';
import {columns} from './lists/columns.ts';
import {countries} from './lists/countries.ts';
import {encodings} from './lists/encodings.ts';
import {programs} from './lists/exports.ts';
import {files} from './lists/files.ts';
import {firstContact} from './lists/first-contact.ts';
import {known} from './lists/known.ts';
import {newUsers} from './lists/new-users.ts';
import {numbers} from './lists/numbers.ts';
import {parties} from './lists/parties.ts';
import {look, situations} from './lists/situation.ts';
import {strangers} from './lists/strangers.ts';
import {usual} from './lists/usual.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-lists-'));
});
afterAll(() => rmSync(directory, {recursive: true}));

/** The lists of the table, all of them made up, with the plan of a run for each. */
const all = [
  known,
  files,
  encodings,
  columns,
  countries,
  numbers,
  addresses,
  programs,
  firstContact,
  parties,
  strangers,
  newUsers,
  usual,
].flatMap(situations);

test('there are 112 or more', () => expect(all.length).toBeGreaterThanOrEqual(112));

test.each(all.map((situation, index) => ({...situation, index})))('$name', async ({index, ...situation}) => {
  const folder = join(directory, String(index));
  const {becomes, said} = await look(folder, situation);
  expect(becomes.replaceAll(`${folder}/`, ''), said).toBe(situation.becomes);
  for (const part of situation.says) expect(said.replaceAll(`${folder}/`, '')).toContain(part);
});

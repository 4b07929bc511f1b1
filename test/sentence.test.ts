import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {describeSettings} from '../src/job/settings.ts';
import {formatForLibrary, type Sentence, say, sayFlags, setting, spellName} from '../src/sentence.ts';

/** Settings by their names in code. A command's own output, and its list's date, are flags as well. */
const names = [...describeSettings().map(({name}) => name), 'output', 'date', 'redis'];

test.each<[Sentence, string, string]>([
  [say`Raise ${setting('maxCredits')}.`, 'Raise --max-credits.', 'Raise maxCredits.'],
  [say`Add ${setting('force', true)}.`, 'Add --force.', 'Add force: true.'],
  [say`Add ${setting('header', false)}.`, 'Add --no-header.', 'Add header: false.'],
  [say`Add ${setting('output', 'OUT')}.`, 'Add -o OUT.', 'Add output: OUT.'],
  [say`Add ${setting('country', 'COLUMN')}.`, 'Add --country COLUMN.', 'Add country: COLUMN.'],
  [say`Add ${setting('ip', 'EMAIL')}.`, 'Add --ip EMAIL.', 'Add ip: "EMAIL".'],
  [say`Add ${setting('defaultCountry', 'DE')}.`, 'Add --default-country DE.', 'Add defaultCountry: "DE".'],
  [say`Add ${setting('ip', "it's $(x)")}.`, "Add --ip 'it'\\''s $(x)'.", 'Add ip: "it\'s $(x)".'],
  [
    say`Try ${sayFlags(['--no-header', '--ip', 'last ip', '-o', '--x'])}.`,
    "Try --no-header --ip 'last ip' -o --x.",
    'Try header: false, ip: "last ip", output: "--x".',
  ],
  [
    say`${say`Look at ${setting('phone')}`}, or ${setting('email')}.`,
    'Look at --phone, or --email.',
    'Look at phone, or email.',
  ],
])('a sentence names its settings as its reader writes them: %s', (sentence, told, coded) => {
  expect(String(sentence)).toBe(told);
  expect(JSON.stringify(sentence)).toBe(JSON.stringify(told));
  expect(formatForLibrary(sentence)).toBe(coded);
});

test("a user's own names stay as they are, also if they look like settings", () => {
  const list = 'lists/max_age --force.csv';
  expect(
    formatForLibrary(say`${list}: column "max_credits" is empty. Add ${setting('email', 'max_age')}.`),
  ).toBe(`${list}: column "max_credits" is empty. Add email: "max_age".`);
});

/** Rooms whose sentences are about flags for a good reason: the command's own, and pages of text for it. */
const forTheCommand =
  /^(cli|fleet\/worker\/metrics|output\/earlier|job\/settings|report|operations|service|lookup|run\/estimate|columns\/recognize|library)\b/;

const source = fileURLToPath(new URL('../src/', import.meta.url));
const files = readdirSync(source, {recursive: true, encoding: 'utf8'}).filter(file => file.endsWith('.ts'));
const lines = files.flatMap(file =>
  readFileSync(join(source, file), 'utf8')
    .split('\n')
    .map((line, at) => ({where: `${file}:${at + 1}`, line})),
);

test('each setting in a sentence exists', () => {
  const used = lines.flatMap(({line, where}) =>
    [...line.matchAll(/\$\{setting\('(\w+)'/g)].map(([, name = '']) => ({name, where})),
  );
  expect(used.length).toBeGreaterThan(60);
  expect(used.filter(({name}) => !names.includes(name))).toEqual([]);
});

test('no sentence that the library may tell has a flag among its words', () => {
  const flag = new RegExp(`[^'"]--(no-)?(${names.map(name => spellName(name, '-')).join('|')})\\b(?!')`);
  const found = lines.filter(
    ({line, where}) => !forTheCommand.test(where) && !/^\s*(\*|\/[/*])/.test(line) && flag.test(line),
  );
  expect(found).toEqual([]);
});

import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Words that readers had to read twice, with what to write. They are wrong in docs, messages and comments alike. */
const words: readonly (readonly [word: RegExp, write: string])[] = [
  [/\b(?:nobody|somebody|whoever|whomever)\b(?!@)/i, 'who it is: you, the run, the service, a worker'],
  [/\b(?:go|goes|going|gone|went) on\b/i, 'continue, resume'],
  [/\ball the same\b/i, 'anyway'],
  [/\bask(?:s|ed|ing)? about\b/i, 'look up'],
  [/\bputs? right\b|\bmend(?:s|ed|ing)?\b/i, 'fix'],
  [/(?<!there )\b(?:is|are|was|were) none\b/i, 'is not a …, does not exist'],
  [/\bundefined where\b/i, 'undefined while, undefined if'],
  [/\bdear(?:er|est)?\b/i, 'expensive'],
  [/\bby its mark\b/i, 'byte order mark'],
  [/\bso (?:far ahead|long ago)\b/i, 'for this long, within'],
  [/(?<!there )\bis no (?:text|file|output|YAML|URL|number|value)\b/i, 'is not a …'],
];

/** A comment or a description that begins with the question it answers. */
const QUESTION = /(?:\/\*\*|\/\/|describe\(['"`]|description: ['"`])\s*(?:Whether|What|Where|Who)\b/;

const filesIn = (folder: string, ending: RegExp) =>
  readdirSync(root + folder, {recursive: folder !== '', encoding: 'utf8'})
    .filter(name => ending.test(name))
    .map(name => (folder === '' ? name : `${folder}/${name}`));

const pages = [
  ...filesIn('', /\.md$/),
  ...filesIn('docs', /\.md$/),
  ...filesIn('jobs', /\.(?:md|yaml|sh)$/),
  ...filesIn('samples', /\.md$/),
];
const sources = filesIn('src', /\.ts$/);

/** Lines with such a word, each with what to write; titles of tests, which docs link, are left out. */
function faultsIn(path: string): string[] {
  return readFileSync(root + path, 'utf8')
    .split('\n')
    .flatMap((line, index) => {
      const text = line.replace(/\[[^\]]*\]\(\.\.\/test\/[^)]*\)/g, '');
      const found = words.find(([word]) => word.test(text));
      const at = `${path}:${index + 1}`;
      if (found !== undefined) return [`${at}: ${found[0].exec(text)?.[0]} → ${found[1]}`];
      return QUESTION.test(text) ? [`${at}: begin with what it is: "True if …", "Time at which …"`] : [];
    });
}

test('docs, jobs and samples are free of words that have to be read twice', () => {
  expect(pages.length).toBeGreaterThan(25);
  expect(pages.flatMap(path => faultsIn(path))).toEqual([]);
});

test('messages and comments are free of words that have to be read twice', () => {
  expect(sources.flatMap(faultsIn)).toEqual([]);
});

test.each([
  ['it goes on where it stopped', 'goes on'],
  ['Whoever reads this', 'Whoever'],
  ['mail to somebody@example.com', undefined],
  ['there is none', undefined],
])('%s', (text, found) => {
  expect(words.map(([word]) => word.exec(text)?.[0]).find(Boolean)).toBe(found);
});

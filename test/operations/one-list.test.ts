import {readdirSync, readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {operationNames} from '../../src/operations/table.ts';

const src = fileURLToPath(new URL('../../src/', import.meta.url));

/** Settings that may name several operations. Types make the list complete, or it is not a list of operations. */
const mayName: Readonly<Record<string, string>> = {
  'library/job-input.ts': 'written by npm run schema from the settings, which a test holds it to',
  'score/language/rule-variables.ts': 'the facts of a list; an operation that is missing is a type error',
  'service/start.ts': 'the answers are registered there; one that is missing is a type error',
  'service/verdict/verdicts.ts': "a verdict's parts, some of which have the names of operations",
};

const names = operationNames.join('|');
/** Two of them side by side in code, as in a list or a union. */
const pair = new RegExp(`['"\`](?:${names})['"\`]\\s*[,|]\\s*['"\`](?:${names})['"\`]`, 'g');
const near = new RegExp(`\\b(?:${names})\\b`, 'g');
const NEAR = 50;

/** The code of a file: comments are prose, and imports say where things are. */
const codeOf = (path: string) =>
  readFileSync(src + path, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$|^import [^;]*;$/gm, '');

/** Lists of operations in a text: two of them next to each other, or three with little between them. */
function listsIn(code: string): string[] {
  const found = [...code.matchAll(pair)].map(([text]) => text);
  let chain: RegExpExecArray[] = [];
  for (const match of code.matchAll(near)) {
    const last = chain.at(-1);
    chain = last !== undefined && match.index < last.index + NEAR ? [...chain, match] : [match];
    if (new Set(chain.map(([name]) => name)).size >= 3)
      found.push(code.slice(chain[0]?.index, match.index + NEAR));
  }
  return found;
}

const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter(
  path => path.endsWith('.ts') && !path.startsWith('operations/'),
);

test('no file of src lists operations: src/operations/table.ts is the only list', () => {
  const lists = files.flatMap(path =>
    path in mayName ? [] : listsIn(codeOf(path)).map(text => `${path}: ${text}`),
  );
  expect(lists).toEqual([]);
});

test('settings that may name several values still do', () => {
  for (const path of Object.keys(mayName)) expect(listsIn(codeOf(path)), path).not.toEqual([]);
});

test('a list is found', () => {
  expect(listsIn("z.enum(['ip', 'phone'])")).toHaveLength(1);
  expect(listsIn("'expected ip, phone or email'")).not.toEqual([]);
  expect(listsIn('{ip: {}, phone: {}, email: {}, verify: {}}')).not.toEqual([]);
});

import {expect, test} from 'vitest';
import {painter, showsColours} from '../../src/cli/terminal/colour.ts';
import {printable} from '../../src/cli/terminal/printable.ts';

test.each<[string, boolean, Record<string, string>, boolean]>([
  ['a terminal', true, {TERM: 'xterm-256color'}, true],
  ['a terminal that does not say what it is', true, {}, true],
  ['a pipe or a file', false, {TERM: 'xterm-256color'}, false],
  ['a terminal that knows nothing', true, {TERM: 'dumb'}, false],
  ['NO_COLOR, whatever it holds', true, {NO_COLOR: '0'}, false],
  ['NO_COLOR that is empty, which says nothing', true, {NO_COLOR: ''}, true],
  ['a terminal of a CI runner', true, {CI: 'true'}, true],
  ['a pipe, but asked for', false, {FORCE_COLOR: '1'}, true],
  ['a terminal, but asked for none', true, {FORCE_COLOR: '0'}, false],
  ['both asked for: none', true, {NO_COLOR: '1', FORCE_COLOR: '1'}, false],
])('%s', (_, isTerminal, env, expected) => {
  expect(showsColours(isTerminal, env)).toBe(expected);
  const shown = painter({isTTY: isTerminal}, env)('red', 'Error:');
  expect(printable(shown)).toBe(expected ? '\u001B[31mError:\u001B[39m' : 'Error:');
});

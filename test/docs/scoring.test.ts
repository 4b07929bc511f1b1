import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {defaultRules} from '../../src/score/default-rules.ts';

const text = readFileSync(fileURLToPath(new URL('../../docs/scoring.md', import.meta.url)), 'utf8');

test('docs/scoring.md has every default rule with its weight, and a reason for it', () => {
  const rows = [...text.matchAll(/^\| `(\w+)` \| `([^`]+)` \| (\d+) \| (.+) \|$/gm)];
  expect(rows.map(([, reason, when, add]) => ({when, add: Number(add), reason}))).toEqual(defaultRules);
});

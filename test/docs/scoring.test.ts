import {Environment} from '@marcbachmann/cel-js';
import {expect, test} from 'vitest';
import {defaultRules} from '../../src/score/rules.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {blocksOf, textOf} from './blocks.ts';

const text = textOf('docs/scoring.md');
const blocks = blocksOf(text, 'yaml');

test('docs/scoring.md has every default rule with its weight, and a reason for it', () => {
  const rows = [...text.matchAll(/^- `(\w+)` (\d+): `([^`]+)`; .+$/gm)];
  expect(rows.map(([, reason, add, when]) => ({when, add: Number(add), reason}))).toEqual(defaultRules);
});

test('docs/scoring.md has every function of the language, and no other', () => {
  const [, table = ''] = /## Look up a function\n\n([\s\S]*?)\n\n/.exec(text) ?? [];
  const shown = new Set(
    [...table.matchAll(/`[^`]*`/g)].flatMap(([code]) =>
      [...code.matchAll(/(\w+)\(/g)].map(([, name]) => name),
    ),
  );
  const {functions} = new Environment().getDefinitions();
  // Of types, of optional values and of names given on the way, which conditions here have no use for.
  const unused = new Set(['type', 'bind', 'hasValue', 'value', 'none', 'of', 'or', 'orValue']);
  const there = functions.map(({name}) => name).filter(name => !unused.has(name));
  expect([...shown].sort()).toEqual([...new Set(there)].sort());
});

test('the score blocks of docs/scoring.md work as they stand, in a file and in a job', async () => {
  const scores = blocks.filter(block => block.startsWith('score:\n'));
  expect(scores).toHaveLength(2);
  using box = createSandbox();
  box.write('in.csv', 'ip,phone,email,country\n192.0.2.1,+12025550100,somebody@example.com,US\n');
  box.write('partners.txt', '# ours\nexample.com\n');
  const columns = ['--ip', 'ip', '--phone', 'phone', '--email', 'email', '--endpoint', 'embedded', '--force'];
  for (const block of scores) {
    box.write('rules.yaml', block);
    const settings = 'endpoint: embedded\nip: ip\nphone: phone\nemail: email\nforce: true\n';
    box.write('job.yaml', `input: in.csv\n${settings}${block}`);
    const byFile = await runHere(box, ['run', 'in.csv', ...columns, '--score', 'rules.yaml']);
    const written = box.read('in.enriched.csv');
    const byJob = await runHere(box, ['run', '--job', 'job.yaml']);
    expect([byFile.code, byJob.code, box.read('in.enriched.csv')]).toEqual([0, 0, written]);
  }
});

test('the rules of docs/scoring.md with tests of their own pass them as they stand', async () => {
  const tested = blocks.filter(block => /^rules:\n.*\ntests:\n/s.test(block));
  expect(tested).toHaveLength(1);
  using box = createSandbox();
  box.write('rules.yaml', tested[0] ?? '');
  const {code, stdout} = await runHere(box, ['rules', 'test', 'rules.yaml']);
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^rules\.yaml: (\d) of \1 tests passed\.\n$/)]);
});

import {execFileSync} from 'node:child_process';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';

/** The words that bash offers behind these. */
async function offered(...words: readonly string[]): Promise<string> {
  using sandbox = createSandbox();
  const {stdout} = await sandbox.run(['completion', 'bash']);
  sandbox.write('completion.bash', stdout);
  const line = `. ./completion.bash; COMP_WORDS=(bulk-enrich "$@"); COMP_CWORD=$#; _bulk_enrich; echo "\${COMPREPLY[*]}"`;
  const args = ['-c', line, 'bash', ...words];
  return execFileSync('bash', args, {cwd: sandbox.directory, encoding: 'utf8'}).trim();
}

test.each([
  [['re'], 'rejects'],
  [['run', '--default-c'], '--default-country'],
  [['plan', '--from'], '--from-list'],
  [['store', 'pr'], 'prune'],
  [['store', 'prune', '--max'], '--max-age'],
  [['explain', 'out.csv', '--level', 'h'], 'high'],
  [['run', 'comp'], 'completion.bash'],
])('bash completes %j', async (words, expected) => expect(await offered(...words)).toBe(expected));

test('fish and zsh get the declared commands and flags, and another shell an error', async () => {
  using sandbox = createSandbox();
  const fish = await sandbox.run(['completion', 'fish']);
  expect(fish.stdout).toContain(
    "-n '__fish_seen_subcommand_from store; and __fish_seen_subcommand_from purge' -l store -r",
  );
  expect((await sandbox.run(['completion', 'zsh'])).stdout).toContain('bashcompinit');
  expect(await sandbox.run(['completion', 'tcsh'])).toMatchObject({code: 2, stdout: ''});
});

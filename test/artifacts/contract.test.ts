import {readFileSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {columnLines, commandLines, libraryLines, schemaLines, versionLines, wordLines} from './contract.ts';

const path = new URL('contract.txt', import.meta.url).pathname;

/** The files of a run that stopped at its limit, beside those that all runs share. */
async function linesOnDisk(): Promise<string[]> {
  using sandbox = createSandbox();
  const account = 'endpoint: embedded\nmax_credits_per_day: 1000\nrate: 100/s\n';
  sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', account);
  sandbox.write('list.csv', ips(5));
  const job = 'name: nightly\ninput: list.csv\nendpoint: embedded\nip: ip\n';
  sandbox.write('job.yaml', job);
  const stopped = await runHere(sandbox, ['run', '--job', 'job.yaml', '--max-credits', '3']);
  expect(stopped, stopped.stderr).toMatchObject({code: 7});
  return versionLines(dirname(sandbox.directory));
}

async function contract(): Promise<string[]> {
  const lines = [
    ...commandLines(),
    ...schemaLines('job', 'jobs/job.schema.json'),
    ...schemaLines('account', 'docs/account.schema.json'),
    ...[
      'summary',
      'plan',
      'lookup',
      'runs',
      'spend',
      'diff',
      'explain',
      'doctor',
      'store-stats',
      'fleet-status',
    ].flatMap(name => schemaLines(name, `docs/${name}.schema.json`)),
    ...columnLines(),
    ...wordLines(),
    ...libraryLines(),
    ...(await linesOnDisk()),
  ];
  return [...new Set(lines)].sort();
}

test('the contract is that of the last release, or has more: nothing is gone, and nothing is another (UPDATE=1 records it)', async () => {
  const present = await contract();
  if (process.env.UPDATE === '1') writeFileSync(path, `${present.join('\n')}\n`);
  const recorded = readFileSync(path, 'utf8').trimEnd().split('\n');
  const kept = new Set(present);
  expect(recorded.filter(line => !kept.has(line))).toEqual([]);
  expect(recorded.length).toBeGreaterThan(1_000);
  // A new demand on job and account files would refuse files that exist already.
  const demands = (line: string) => /^(job|account) .* is required$/.test(line);
  expect(present.filter(demands)).toEqual(recorded.filter(demands));
  // A version rises only if it reads what the released one before left.
  const versions = (line: string) => /^(disk|fleet) /.test(line);
  expect(present.filter(versions)).toEqual(recorded.filter(versions));
});

test('docs/stability.md has a line for each part of the contract, and no other', async () => {
  const recorded = readFileSync(path, 'utf8').trimEnd().split('\n');
  const page = readFileSync(new URL('../../docs/stability.md', import.meta.url), 'utf8');
  const parts = new Set(recorded.map(line => line.split(' ')[0]));
  const told = [...page.matchAll(/<!-- ([\w -]+) -->/g)].flatMap(([, words = '']) => words.split(' '));
  expect(told.sort()).toEqual([...parts].sort());
});

import {readFileSync, writeFileSync} from 'node:fs';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';
import {
  columnFacts,
  commandFacts,
  type Fact,
  libraryFacts,
  schemaFacts,
  versionFacts,
  wordFacts,
} from './contract.ts';

const path = fileURLToPath(new URL('contract.txt', import.meta.url));

/** The files of a run that stopped at its limit, beside those that all runs share. */
async function factsOnDisk(): Promise<Fact[]> {
  using sandbox = createSandbox();
  const account = 'endpoint: embedded\nmax_credits_per_day: 1000\nrate: 100/s\n';
  sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', account);
  sandbox.write('list.csv', ips(5));
  const job = 'name: nightly\ninput: list.csv\nendpoint: embedded\nip: ip\n';
  sandbox.write('job.yaml', job);
  const stopped = await runHere(sandbox, ['run', '--job', 'job.yaml', '--max-credits', '3']);
  expect(stopped, stopped.stderr).toMatchObject({code: 7});
  return versionFacts(dirname(sandbox.directory));
}

const outputs = 'summary plan lookup runs spend diff explain doctor store-stats fleet-status';

/** A line for each place, with all that is there. */
async function contract(): Promise<string> {
  const facts = [
    ...(await commandFacts()),
    ...schemaFacts('job', 'jobs/job.schema.json'),
    ...['account', ...outputs.split(' ')].flatMap(name => schemaFacts(name, `docs/${name}.schema.json`)),
    ...columnFacts(),
    ...wordFacts(),
    ...libraryFacts(),
    ...(await factsOnDisk()),
  ];
  const places = new Map<string, Set<string>>();
  for (const [where, what] of facts) {
    const place = where.trim();
    places.set(place, (places.get(place) ?? new Set()).add(what.trim()));
  }
  const lines = [...places].map(([place, all]) => `${place}: ${[...all].sort().join(', ')}\n`);
  return lines.sort().join('');
}

/** Each fact with its place. */
function factsOf(text: string): string[] {
  return [...text.matchAll(/^(.*?): (.*)$/gm)].flatMap(([, place, all = '']) =>
    all.split(', ').map(what => `${place}: ${what}`),
  );
}

test('the contract is that of the last release, or has more: nothing is gone, and nothing is another (UPDATE=1 records it)', async () => {
  const text = await contract();
  if (process.env.UPDATE === '1') writeFileSync(path, text);
  const present = factsOf(text);
  const recorded = factsOf(readFileSync(path, 'utf8'));
  const kept = new Set(present);
  expect(recorded.filter(fact => !kept.has(fact))).toEqual([]);
  expect(recorded.length).toBeGreaterThan(1_000);
  // A new demand on job and account files would refuse files that exist already. A version rises only if it reads what
  // the released one before left.
  const fixed = (fact: string) => /^(job|account)\b.*!$|^(disk|fleet): /.test(fact);
  expect(present.filter(fixed)).toEqual(recorded.filter(fixed));
});

test('docs/stability.md has a line for each part of the contract, and no other', async () => {
  const page = readFileSync(new URL('../../docs/stability.md', import.meta.url), 'utf8');
  const parts = new Set(readFileSync(path, 'utf8').match(/^[\w-]+/gm));
  const told = [...page.matchAll(/<!-- ([\w -]+) -->/g)].flatMap(([, words = '']) => words.split(' '));
  expect(told.sort()).toEqual([...parts].sort());
});

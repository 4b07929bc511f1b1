import {existsSync, readFileSync} from 'node:fs';
import {basename} from 'node:path';
import {describe, expect, test} from 'vitest';
import {expectAccounts} from '../support/summary.ts';
import {type Environment, environments, runAt} from './environments.ts';
import {commandOf, createSite, ROWS, type Site} from './site.ts';

const jobs = [
  ['nightly-signups', 'signups.enriched.csv'],
  ['one-off', 'contacts.enriched.csv'],
  ['ci', 'signups.enriched.ndjson'],
] as const;

/** In the soak all of them. Else one in turn: each is in two environments at least, which write the same. */
const jobsOf = (environment: number) =>
  jobs.filter((_, index) => process.env.SOAK !== undefined || index === environment % jobs.length);

/** The output of each job in the first environment that it ran in: it is the same in all of them. */
const outputs = new Map<string, string>();

for (const [n, environment] of environments.entries()) {
  const {name, missing} = environment;
  describe(missing === undefined ? name : `${name} (skipped: ${missing})`, () => {
    test.skipIf(missing !== undefined).each(jobsOf(n))('jobs/%s.yaml', async (job, output) => {
      const written = await expectJobRun(environment, job, output);
      expect(written).toBe(outputs.get(job) ?? written);
      outputs.set(job, written);
    });
  });
}

async function expectJobRun(environment: Environment, job: string, output: string): Promise<string> {
  using site = createSite();
  const before = site.files();
  const {code, stdout, stderr} = await runAt(environment, site, commandOf(site, `jobs/${job}.yaml`));
  expect([code, stdout], stderr).toEqual([0, '']);
  const summaryFile = output.replace(/\.\w+$/, '.summary.json');
  const summary = site.summary(summaryFile);
  expect(summary).toMatchObject({job, status: 'completed', rows: {written: ROWS}});
  expectAccounts(summary);
  const made = site.files().filter(file => !before.includes(file) && !file.startsWith('.bulk-enrich/'));
  expect(made).toEqual([output, summaryFile]);
  expectWords(environment, stderr, `${ROWS} rows written to ${output}.`);
  expectStepSummary(environment, site, `# ${job} (${basename(summary.input.paths[0] ?? '')}): Complete\n`);
  return site.read(output);
}

/** Expects plain lines (except at a terminal), only due warnings, and the outcome at the end. */
function expectWords({warning}: Environment, said: string, outcome: string): void {
  for (const mark of ['\r', '\u001B', '█', '░', '::warning', '::error']) expect(said).not.toContain(mark);
  const lines = said.trimEnd().split('\n');
  // Its cost and the next step follow.
  expect(lines.slice(-3)).toContain(outcome);
  const warnings = lines.filter(line => line.startsWith('Warning'));
  expect(warnings).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
}

function expectStepSummary({name}: Environment, site: Site, title: string): void {
  const path = site.path('../step-summary.md');
  expect(existsSync(path)).toBe(name === 'in GitHub Actions');
  if (existsSync(path)) expect(readFileSync(path, 'utf8').startsWith(title)).toBe(true);
}

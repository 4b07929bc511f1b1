import {spawnSync} from 'node:child_process';
import {copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {beforeEach, expect, test} from 'vitest';
import {parse} from 'yaml';
import {KEY, startService} from '../e2e/service.ts';
import {runIn} from '../jobs/confinement.ts';
import {createSite, ROWS} from '../jobs/site.ts';
import {reply} from '../support/api-server-reply.ts';
import {opened} from '../support/opened.ts';
import {lacks} from '../support/real-parts.ts';

interface Step {
  readonly id?: string;
  readonly uses?: string;
  readonly if?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
}

interface Action {
  readonly inputs: Readonly<Record<string, {readonly default?: string; readonly required?: boolean}>>;
  readonly outputs: Readonly<Record<string, {readonly value: string}>>;
  readonly runs: {readonly steps: readonly Step[]};
}

const root = fileURLToPath(new URL('../../', import.meta.url));
const path = join(root, 'action.yml');
const {inputs, outputs, runs} = parse(readFileSync(path, 'utf8')) as Action;

const service = opened(startService);
const site = opened(createSite);

beforeEach(() => {
  // In place of the runner's npm. Nothing of the registry is there afterwards.
  const npm = `#!/bin/sh\necho "$PWD $@" >>"$RUNNER_TEMP/npm"\n`;
  writeFileSync(join(site.programs, 'npm'), npm, {mode: 0o755});
  const node = join(site.programs, 'node');
  rmSync(node);
  const noting = `#!/bin/sh\nenv >>"$RUNNER_TEMP/env"\nexec '${process.execPath}' "$@"\n`;
  writeFileSync(node, noting, {mode: 0o755});
});

const expression = (text: string) => `\${{ ${text} }}`;

/** Runs the steps that have a script as a runner does, in a checkout; gives the outputs as other steps see them. */
async function runAction(given: Readonly<Record<string, string>>) {
  const temp = join(site.root, 'runner');
  rmSync(temp, {recursive: true, force: true});
  mkdirSync(temp);
  // The runner's checkout of the action, which its npm has built: outside of the job's own.
  const checkout = join(temp, 'action');
  symlinkSync(root, checkout);
  const file = join(temp, 'output');
  const inputOf = (_: string, name: string) => given[name] ?? inputs[name]?.default ?? '';
  const valued = (text: string) => text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, inputOf);
  let code: number | undefined = 0;
  let stderr = '';
  for (const {run, env = {}} of runs.steps) {
    if (run === undefined || code !== 0) continue;
    const own = Object.fromEntries(Object.entries(env).map(([name, text]) => [name, valued(text)]));
    // As the runner starts `shell: bash`.
    const script = join(temp, 'script.sh');
    writeFileSync(script, run);
    const ended = await runIn(site, `exec bash --noprofile --norc -eo pipefail ${script}`, {
      env: {
        PATH: `${site.programs}:/usr/bin:/bin`,
        HOME: site.home,
        CI: 'true',
        RUNNER_TEMP: temp,
        GITHUB_ACTION_PATH: checkout,
        GITHUB_OUTPUT: file,
        GITHUB_WORKSPACE: site.directory,
        ...own,
      },
    });
    code = ended.code;
    stderr += ended.stderr;
  }
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
  const set: Record<string, string> = Object.fromEntries(lines.map(line => line.split(/=(.*)/s).slice(0, 2)));
  return {
    ...{code, stderr, set},
    npm: readFileSync(join(temp, 'npm'), 'utf8').replaceAll(checkout, 'CHECKOUT').trimEnd().split('\n'),
    left: existsSync(join(temp, 'bulk-enrich.key')),
    // The command reads the key from a file: it is in no environment.
    environments: readFileSync(join(temp, 'env'), 'utf8'),
  };
}

const JOB = `input: samples/signups.csv
output: signups.enriched.csv
endpoint: live
ip: signup_ip
force: true
rate: unlimited
`;

test('builds its own checkout, runs the job, and outputs costs and paths; the next one pays for nothing', async () => {
  site.write('nightly.yaml', JOB);
  const given = {job: 'nightly.yaml', 'base-url': service.url, 'api-key': KEY};
  const first = await runAction(given);
  expect(first, first.stderr).toMatchObject({code: 0, left: false});
  expect(first.environments).toContain('BULK_ENRICH_API_KEY_FILE=');
  expect(first.environments).not.toContain(KEY);
  // The name may be free at a registry, and whoever takes it would get the key.
  expect(first.npm).toEqual([
    'CHECKOUT ci --include=dev --ignore-scripts --no-fund --no-audit',
    'CHECKOUT run --silent build',
  ]);
  const {credits} = service.ledger;
  expect(credits).toBeGreaterThan(0);
  expect(first.set).toEqual({
    'exit-code': '0',
    credits: String(credits),
    'maybe-credits': '0',
    output: site.path('signups.enriched.csv'),
    summary: site.path('.bulk-enrich/summary.json'),
  });
  const second = await runAction(given);
  expect(second.set).toMatchObject({'exit-code': '0', credits: '0'});
  expect(service.ledger.credits).toBe(credits);
  for (const name of site.files().filter(file => file.startsWith('.bulk-enrich')))
    expect(readFileSync(site.path(name)).includes(KEY), name).toBe(false);
});

test('a killed run fails the step with its exit code, and the next one resumes from the cache', async () => {
  site.write('nightly.yaml', JOB);
  const given = {job: 'nightly.yaml', 'base-url': service.url, 'api-key': KEY};
  service.setScript(({call}) => (call > 10 ? reply.unavailable(3_600) : undefined));
  const down = await runAction(given);
  expect([down.code, down.set['exit-code'], down.set.output]).toEqual([5, '5', undefined]);
  service.setScript(undefined);
  const resumed = await runAction(given);
  expect(resumed.set['exit-code'], resumed.stderr).toBe('0');
  const summary = JSON.parse(readFileSync(resumed.set.summary ?? '', 'utf8')) as object;
  expect(summary).toMatchObject({rows: {written: ROWS}, resumed: {times: 1}});
});

test('a job that can not begin has an exit code and no figures, not those of the run before', async () => {
  site.write('nightly.yaml', JOB.replace('live', 'embedded'));
  expect((await runAction({job: 'nightly.yaml'})).set['exit-code']).toBe('0');
  const failed = await runAction({job: 'nightly.yaml', arguments: '--rate\nfast\n'});
  expect([failed.code, failed.set]).toEqual([2, {'exit-code': '2'}]);
});

test('every output comes from a step, actions are pinned by commit, and the cache is saved after a failure', () => {
  for (const {value} of Object.values(outputs))
    expect(value).toMatch(/^\$\{\{ steps\.run\.outputs\.[\w-]+ \}\}$/);
  const used = runs.steps.flatMap(({uses}) => uses ?? []);
  for (const name of used) expect(name).toMatch(/^actions\/[\w/-]+@[\da-f]{40}$/);
  const half = (name: string) => runs.steps.find(({uses}) => uses?.includes(`cache/${name}@`));
  const {path: place, key} = half('restore')?.with ?? {};
  expect(half('save')).toMatchObject({if: 'always()', with: {path: place, key}});
  // An expression in a script is code that others write.
  for (const {run = ''} of runs.steps) expect(run).not.toContain('{{');
});

test.skipIf(lacks('actionlint'))(
  'actionlint finds nothing wrong with it, nor with a workflow that uses it',
  () => {
    const cwd = site.directory;
    mkdirSync(site.path('.git'));
    copyFileSync(path, site.path('action.yml'));
    const shown = Object.keys(outputs).map(name => expression(`steps.enrich.outputs.${name}`));
    const using = {job: 'jobs/nightly.yaml', 'api-key': expression('secrets.KEY')};
    const steps = [
      {uses: 'actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1'},
      {id: 'enrich', uses: './', with: using},
      ...shown.map(text => ({run: `echo "${text}"`})),
    ];
    // Its own steps as those of a job, which is what actionlint reads; a called workflow has inputs too.
    const called = Object.fromEntries(Object.keys(inputs).map(name => [name, {type: 'string'}]));
    const workflow = {
      on: {push: null, workflow_call: {inputs: called}},
      jobs: {
        user: {'runs-on': 'ubuntu-latest', steps},
        own: {'runs-on': 'ubuntu-latest', steps: runs.steps},
      },
    };
    const written = site.write('.github/workflows/enrich.yaml', JSON.stringify(workflow));
    const {status, stdout} = spawnSync('actionlint', ['-no-color', written], {cwd, encoding: 'utf8'});
    expect([status, stdout]).toEqual([0, '']);
  },
);

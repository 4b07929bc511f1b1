import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {parse} from 'yaml';
import {newDirectory} from '../support/new-directory.ts';
import {lacks} from '../support/real-parts.ts';

const within = newDirectory();
const read = (name: string) => readFileSync(new URL(`../../jobs/schedule/${name}`, import.meta.url), 'utf8');

it.each(['crontab', 'bulk-enrich.service', 'kubernetes-cronjob.yaml', 'github-actions.yaml'])(
  '%s runs a job file that is there',
  name => {
    const files = [...read(name).matchAll(/--job[, ]+([\w./-]+\.yaml)/g)].map(match => match[1] ?? '');
    expect(files.length).toBeGreaterThan(0);
    for (const file of files)
      expect(existsSync(new URL(`../../jobs/${file.replace(/^\/?jobs\//, '')}`, import.meta.url))).toBe(true);
  },
);

it('a release is published once the whole suite holds on each line of Node that pull requests run', () => {
  const workflow = (name: string) =>
    parse(readFileSync(new URL(`../../.github/workflows/${name}.yml`, import.meta.url), 'utf8')).jobs;
  const {lines, publish} = workflow('release');
  expect(lines.strategy.matrix.node).toEqual(workflow('pull-request').linux.strategy.matrix.node);
  const commands = lines.steps.flatMap(({run}: {run?: string}) => run ?? []);
  expect(commands).toEqual(['npm ci', 'npm test', 'npm run test:slow']);
  expect(publish.needs).toEqual(['check', 'lines']);
});

it('the workflow keeps the answers between runs, also when the job fails', () => {
  const {steps} = parse(read('github-actions.yaml')).jobs.enrich;
  const save = steps.find((step: {uses?: string}) => step.uses?.startsWith('actions/cache/save'));
  expect(save).toMatchObject({if: 'always()', with: {path: '.bulk-enrich'}});
  // As action.yml: a second attempt could not save under the key of the first one.
  const action = readFileSync(new URL('../../action.yml', import.meta.url), 'utf8');
  const [, key = ''] = /key: \S+ inputs.cache-key \}\}(.*)/.exec(action) ?? [];
  expect([key.includes('run_attempt'), save.with.key]).toEqual([true, `bulk-enrich${key}`]);
  const {run} = steps.find((step: {run?: string}) => step.run?.includes('bulk-enrich run'));
  const exits = [0, 2, 3, 5, 11].filter(code => {
    const script = `npx() { return ${code}; }; ${run}`;
    return spawnSync('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script]).status === 0;
  });
  expect([exits, /case \$code in (.*)\) exit 0/.exec(action)?.[1]]).toEqual([[0, 3, 11], '0 | 3 | 11']);
  const job = parse(readFileSync(new URL('../../jobs/ci.yaml', import.meta.url), 'utf8'));
  expect([job.store, job.state].every((path: string) => path.startsWith('.bulk-enrich/'))).toBe(true);
});

it.skipIf(lacks('systemd'))(
  'systemd loads the service, the timer, and what continues a run after a reboot',
  () => {
    const names = ['bulk-enrich.service', 'bulk-enrich.timer', 'bulk-enrich-resume.service'];
    // The command is not installed here.
    for (const name of names)
      writeFileSync(within(name), read(name).replace('/usr/local/bin/bulk-enrich', '/bin/true'));
    const units = names.map(name => within(name));
    const {status, stderr} = spawnSync('systemd-analyze', ['verify', ...units], {encoding: 'utf8'});
    expect([status, stderr.split('\n').filter(line => line.includes('bulk-enrich'))]).toEqual([0, []]);
  },
);

it.skipIf(lacks('systemd'))('systemd finds the service well confined: an exposure below 3 of 10', () => {
  const unit = fileURLToPath(new URL('../../jobs/schedule/bulk-enrich.service', import.meta.url));
  const given = ['security', '--offline=true', '--threshold=29', unit];
  const {status, stdout} = spawnSync('systemd-analyze', given, {encoding: 'utf8'});
  expect([status, stdout.split('\n').at(-2)]).toEqual([0, expect.stringContaining('OK')]);
});

it.skipIf(lacks('actionlint'))('actionlint finds nothing wrong with the workflow', () => {
  const path = fileURLToPath(new URL('../../jobs/schedule/github-actions.yaml', import.meta.url));
  const ended = spawnSync('actionlint', ['-no-color', path], {encoding: 'utf8'});
  expect(ended).toMatchObject({status: 0, stdout: ''});
});

it('the examples pin what they fetch: actions by commit, images by digest', () => {
  const {steps} = parse(read('github-actions.yaml')).jobs.enrich as {steps: {uses?: string}[]};
  const actions = steps.flatMap(({uses}) => (uses === undefined ? [] : [uses]));
  const files = ['compose.yaml', 'kubernetes.yaml'].map(name => read(`../fleet/${name}`));
  const images = [read('kubernetes-cronjob.yaml'), ...files].flatMap(text =>
    [...text.matchAll(/^\s*image: (\S+)$/gm)].map(([, image = '']) => image),
  );
  expect([actions.length, images.length]).toEqual([5, 7]);
  for (const action of actions) expect(action).toMatch(/^actions\/[\w/-]+@[\da-f]{40}$/);
  // The user's own image has a name that can't be fetched.
  for (const image of images)
    expect(image).toMatch(/^registry\.example\.com\/|^[\w:.-]+@sha256:[\da-f]{64}$/);
});

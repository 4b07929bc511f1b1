import {spawnSync} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';
import {parse, parseAllDocuments} from 'yaml';
import {packageVersion} from '../../src/operations/package-files.ts';
import {builder, lacks} from '../support/real-parts.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');
const dockerfile = read('Dockerfile');
const instructions = dockerfile
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter(line => /^[A-Z]/.test(line));

test('the image is built in a stage of its own, on a base named by its content, and runs without root', () => {
  expect(dockerfile).toMatch(/^ARG NODE=node:[\w.-]+@sha256:[\da-f]{64}$/m);
  const bases = instructions.filter(line => line.startsWith('FROM '));
  expect(bases).toEqual(['FROM $NODE AS build', 'FROM $NODE']);
  const last = instructions.slice(instructions.lastIndexOf('FROM $NODE') + 1);
  // Nothing but what is installed comes from the stage, and nothing is run in the image itself.
  expect(last.filter(line => /^(COPY|ADD|RUN)/.test(line))).toEqual([
    'COPY --from=build /installed/ /usr/local/',
  ]);
  expect(last).toContain('USER node');
});

test('the image has the packages of the lock file, and none of their scripts is run', () => {
  const npm = instructions.flatMap(line =>
    [...line.matchAll(/\bnpm [^&|;)]*|\bnpx\b.*/g)].map(([words]) => words.trim()),
  );
  const installs = npm.filter(words => !/^npm (pack|pkg) /.test(words));
  expect(installs).toEqual(['npm ci --ignore-scripts', 'npm ci --omit=dev --ignore-scripts']);
});

test('Compose and Kubernetes start the image that the Dockerfile makes, of this version', () => {
  const image = `registry.example.com/bulk-enrich:${packageVersion()}`;
  expect(dockerfile).toContain(`docker build -t ${image} .`);
  const compose = parse(read('jobs/fleet/compose.yaml'), {merge: true});
  for (const name of ['worker', 'run'])
    expect(compose.services[name]).toMatchObject({image, build: '../..', read_only: true, tmpfs: ['/tmp']});
  const pods = ['jobs/fleet/kubernetes.yaml', 'jobs/schedule/kubernetes-cronjob.yaml'].flatMap(name =>
    parseAllDocuments(read(name)).map(document => JSON.stringify(document.toJS())),
  );
  const images = pods.flatMap(text => [...text.matchAll(/"image":"([^"]+)"/g)].map(([, found]) => found));
  expect(new Set(images.filter(found => !found?.startsWith('redis:')))).toEqual(new Set([image]));
});

test('the build is given all that it reads, and nothing that is secret or large', () => {
  const ignored = read('.dockerignore').split('\n');
  expect(ignored).toEqual(
    expect.arrayContaining(['.git', 'node_modules', 'jobs/fleet/fleet.env', 'jobs/fleet/tls']),
  );
  const {scripts, files} = JSON.parse(read('package.json'));
  const needed: string[] = [...files, ...(JSON.stringify(scripts).match(/scripts\/[\w.-]+/g) ?? [])];
  for (const name of needed.filter(file => !file.startsWith('!') && file !== 'dist'))
    expect(ignored.includes(name), name).toBe(false);
  expect([ignored.includes('scripts'), ignored.includes('test')]).toEqual([false, true]);
});

test.skipIf(lacks('container'))(
  'the image is built, and looks a value up as its user, on a root file system that can only be read',
  {timeout: 900_000},
  () => {
    const program = builder() ?? '';
    const run = (...args: string[]) => spawnSync(program, args, {cwd: root, encoding: 'utf8'});
    const tag = 'bulk-enrich-test';
    const built = run('build', '-t', tag, '.');
    expect(built, built.stderr).toMatchObject({status: 0});
    // buildah builds, and runs nothing by its name.
    if (program === 'buildah') return;
    const lookup = 'bulk-enrich lookup ip 192.0.2.1 --endpoint embedded';
    const looked = run(...`run --rm --read-only --tmpfs /tmp ${tag} ${lookup}`.split(' '));
    expect(looked, looked.stderr).toMatchObject({status: 0, stdout: expect.stringContaining('is_bogon')});
    run('rmi', tag);
  },
);

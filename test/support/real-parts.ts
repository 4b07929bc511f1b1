import {spawnSync} from 'node:child_process';
import {appendFileSync, existsSync, readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/** A program that some tests use for what it is, and that need not be installed. */
export interface RealPart {
  readonly name: string;
  /** Installs it on Debian, or says what the machine has to allow. */
  readonly brought: string;
  readonly works: () => boolean;
}

/** The file in which a run of the tests notes the parts that it did without; `build.ts` opens it and tells them. */
export const MISSING_PARTS = 'MISSING_PARTS';

const runs = (program: string, ...args: string[]) => spawnSync(program, args, {timeout: 10_000}).status === 0;
const isRoot = process.getuid?.() === 0;

const part = (name: string, brought: string, works: () => boolean): RealPart => ({name, brought, works});
const program = (name: string, packaged: string, command: string) =>
  part(name, `apt-get install ${packaged}`, () => runs(command, '--version'));
const says =
  (text: RegExp, command: string, ...args: string[]) =>
  () =>
    text.test(String(spawnSync(command, args).stdout));
const finds = (find: () => unknown) => () => find() !== undefined;

const parts = {
  redis: program('Redis', 'redis-server', 'redis-server'),
  openssl: part('OpenSSL 3', 'apt-get install openssl', says(/^OpenSSL 3/, 'openssl', 'version')),
  chromium: part('Chromium', 'apt-get install chromium, or set CHROMIUM to its path', finds(chromiumPath)),
  postgresql: part(
    'PostgreSQL',
    'apt-get install postgresql, and run the tests as root',
    () => isRoot && postgresPrograms() !== undefined && runs('runuser', '-u', 'postgres', 'true'),
  ),
  systemd: program('systemd', 'systemd', 'systemd-analyze'),
  promtool: program('promtool', 'prometheus', 'promtool'),
  actionlint: part(
    'actionlint',
    'no Debian package: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
    () => runs('actionlint', '--version'),
  ),
  container: part(
    'a container builder',
    'apt-get install buildah, or a Docker whose daemon runs',
    finds(builder),
  ),
  strace: part('strace', 'apt-get install strace, and the right to trace', () =>
    runs('strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', 'true'),
  ),
  script: part(
    'a pseudo-terminal',
    "apt-get install bsdutils, for util-linux' script",
    says(/util-linux/, 'script', '--version'),
  ),
  mounts: part('the right to mount', 'run the tests as root, in a container with CAP_SYS_ADMIN', () =>
    runs('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp'),
  ),
  zstd: program('zstd', 'zstd', 'zstd'),
};

export type PartName = keyof typeof parts;

export const partNames = Object.keys(parts);

const known = new Map<PartName, boolean>();

/**
 * True if the tests of this part can't run here: for `skipIf`. The end of `npm test` says so.
 * @throws {Error} for a part of REQUIRED_PARTS: CI names those that it has installed, and does without none of them.
 */
export function lacks(name: PartName): boolean {
  const works = known.get(name) ?? parts[name].works();
  known.set(name, works);
  return isLacking(name, {...parts[name], works: () => works}, process.env);
}

/** @throws {Error} where the environment requires the part and it doesn't work. */
export function isLacking(name: string, part: RealPart, env: NodeJS.ProcessEnv): boolean {
  if (part.works()) return false;
  const noted = env[MISSING_PARTS];
  const line = `${part.name} (${part.brought})`;
  if (noted !== undefined) appendFileSync(noted, `${line}\n`);
  if (env.REQUIRED_PARTS?.split(' ').includes(name) === true)
    throw new Error(`Its tests are required here (REQUIRED_PARTS). Install ${line}`);
  return true;
}

/** The parts that a run did without, each once; empty where all were there. */
export function partsNotRun(noted: string): string {
  if (!existsSync(noted)) return '';
  const lines = [...new Set(readFileSync(noted, 'utf8').trimEnd().split('\n'))].sort();
  return `\nNot run, as a part is not installed:\n${lines.map(line => `  ${line}\n`).join('')}`;
}

/** The program that builds images here. */
export function builder(): 'docker' | 'podman' | 'buildah' | undefined {
  return (['docker', 'podman', 'buildah'] as const).find(program => runs(program, 'info'));
}

export function chromiumPath(): string | undefined {
  const places = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
  return process.env.CHROMIUM ?? places.find(path => existsSync(path));
}

/** The directory of PostgreSQL's programs, where Debian has them. */
export function postgresPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const [version] = existsSync(root) ? readdirSync(root).sort().reverse() : [];
  const found = version === undefined ? undefined : join(root, version, 'bin');
  return found !== undefined && existsSync(join(found, 'initdb')) ? found : undefined;
}

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

const parts = {
  redis: {
    name: 'Redis',
    brought: 'apt-get install redis-server',
    works: () => runs('redis-server', '--version'),
  },
  openssl: {
    name: 'OpenSSL 3',
    brought: 'apt-get install openssl',
    works: () => spawnSync('openssl', ['version']).stdout?.toString().startsWith('OpenSSL 3') === true,
  },
  chromium: {
    name: 'Chromium',
    brought: 'apt-get install chromium, or set CHROMIUM to its path',
    works: () => chromiumPath() !== undefined,
  },
  postgresql: {
    name: 'PostgreSQL',
    brought: 'apt-get install postgresql, and run the tests as root',
    works: () => isRoot && postgresPrograms() !== undefined && runs('runuser', '-u', 'postgres', 'true'),
  },
  systemd: {
    name: 'systemd',
    brought: 'apt-get install systemd',
    works: () => runs('systemd-analyze', '--version'),
  },
  promtool: {
    name: 'promtool',
    brought: 'apt-get install prometheus',
    works: () => runs('promtool', '--version'),
  },
  actionlint: {
    name: 'actionlint',
    brought: 'no Debian package: go install github.com/rhysd/actionlint/cmd/actionlint@v1.7.12',
    works: () => runs('actionlint', '--version'),
  },
  container: {
    name: 'a container builder',
    brought: 'apt-get install buildah, or a Docker whose daemon runs',
    works: () => builder() !== undefined,
  },
  strace: {
    name: 'strace',
    brought: 'apt-get install strace, and the right to trace',
    works: () => runs('strace', '-f', '--seccomp-bpf', '-qq', '-o', '/dev/null', 'true'),
  },
  script: {
    name: 'a pseudo-terminal',
    brought: "apt-get install bsdutils, for util-linux' script",
    works: () =>
      spawnSync('script', ['--version'], {encoding: 'utf8'}).stdout?.includes('util-linux') === true,
  },
  mounts: {
    name: 'the right to mount',
    brought: 'run the tests as root, in a container with CAP_SYS_ADMIN',
    works: () => runs('unshare', '-m', 'mount', '-t', 'tmpfs', 'tmpfs', '/tmp'),
  },
  zstd: {name: 'zstd', brought: 'apt-get install zstd', works: () => runs('zstd', '--version')},
} as const satisfies Readonly<Record<string, RealPart>>;

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

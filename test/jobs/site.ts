import {chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {bin, createSandbox, type Sandbox} from '../support/command.ts';

/** A place where the package is installed and its jobs are set up, as its users have it. */
export interface Site extends Sandbox {
  /** All that this test may write to. */
  readonly root: string;
  /** A directory for the PATH, with `node` and `bulk-enrich` in it. */
  readonly programs: string;
}

/** Rows of each list: enough for every kind of value, and soon done. */
export const ROWS = 20;

export function createSite(): Site {
  const sandbox = createSandbox();
  const root = dirname(sandbox.directory);
  const programs = join(root, 'programs');
  mkdirSync(programs);
  installIn(programs);
  for (const folder of ['jobs', 'samples'])
    cpSync(fileURLToPath(new URL(`../../${folder}`, import.meta.url)), sandbox.path(folder), {
      recursive: true,
    });
  for (const list of ['samples/signups.csv', 'samples/contacts-semicolon.csv'])
    sandbox.write(list, firstLines(readFileSync(sandbox.path(list), 'utf8'), ROWS + 1));
  // Other users may read it, as they may what is installed.
  chmodSync(root, 0o755);
  return Object.assign(sandbox, {root, programs});
}

/** `bulk-enrich` as npm installs it: it finds its `node` by the PATH. */
function installIn(directory: string): void {
  symlinkSync(process.execPath, join(directory, 'node'));
  const command = join(directory, 'bulk-enrich');
  writeFileSync(command, `#!/usr/bin/env node\nimport(${JSON.stringify(bin)});\n`);
  chmodSync(command, 0o755);
}

function firstLines(text: string, count: number): string {
  return text
    .split(/(?<=\n)/)
    .slice(0, count)
    .join('');
}

/** The command that a job file says to run, in its comment. */
export function commandOf(site: Site, job: string): string {
  const [, command] = /^# {3}(bulk-enrich run --job .*)$/m.exec(site.read(job)) ?? [];
  if (command === undefined) throw new Error(`${job} does not say how to run it`);
  return command;
}

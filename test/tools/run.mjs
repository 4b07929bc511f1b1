// node test/tools/run.mjs PROGRAM ARGUMENT…: runs a program that only the checks of the sources need. It is installed
// here the first time, as its lock file says: `npm ci` of the project takes a fifth less without it.
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const lock = readFileSync(`${here}package-lock.json`, 'utf8');
const installed = `${here}node_modules/installed.json`;
const run = (program, args, options) => {
  const {status, error} = spawnSync(program, args, {stdio: 'inherit', ...options});
  if (error !== undefined) throw error;
  return status ?? 1;
};

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  // What it says goes to stderr: a program's own output is read by others.
  const status = run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (status !== 0) process.exit(status);
  writeFileSync(installed, lock);
}
const [name = '', ...args] = process.argv.slice(2);
process.exitCode = run(process.execPath, [`${here}node_modules/.bin/${name}`, ...args]);

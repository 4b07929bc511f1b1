// Installs what only tests and checks need, as the lock file beside this says: `npm ci` of the project takes half without it.
import {spawnSync} from 'node:child_process';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const lock = readFileSync(`${here}package-lock.json`, 'utf8');
const installed = `${here}node_modules/installed.json`;

if (!existsSync(installed) || readFileSync(installed, 'utf8') !== lock) {
  // What it says goes to stderr: a program's own output is read by others.
  const {status, error} = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: ['ignore', 2, 2],
    shell: process.platform === 'win32',
  });
  if (error !== undefined) throw error;
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(installed, lock);
}

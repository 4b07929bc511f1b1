// npm run build: puts src and the embedded service's data together elsewhere, then that in dist's place at once, so that
// a command that runs beside it, or another build, never meets half of one.
import {execFileSync} from 'node:child_process';
import {cpSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {bundle} from './bundle.mjs';
import {notices} from './notices.mjs';

process.chdir(fileURLToPath(new URL('../..', import.meta.url)));
const made = `.dist-${process.pid}`;
const before = `${made}-before`;
const run = (...args) => execFileSync(process.execPath, args, {stdio: 'inherit'});

try {
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json', '--outDir', made);
  // What the code reads stands beside it there too.
  cpSync('src', made, {recursive: true, filter: path => !path.endsWith('.ts')});
  await bundle(['service/data/pack'], made);
  run(`${made}/service/data/pack.js`, 'dist/service/data');
  for (const file of ['pack.js', 'pack-sets.csv']) rmSync(`${made}/service/data/${file}`);
  const bundled = await bundle(['cli/bin', 'index', 'client/threads/call-thread'], made);
  // For the bill of materials.
  writeFileSync(`${made}/bundled-packages.json`, JSON.stringify(bundled));
  const licences = readFileSync(`${made}/service/data/licences.txt`, 'utf8');
  writeFileSync(`${made}/third-party-notices.txt`, notices(bundled, licences));
  for (let tries = 0; ; tries++) {
    moveAway();
    try {
      renameSync(made, 'dist');
      break;
    } catch (error) {
      // Another build was put in place in between.
      if (tries === 10) throw error;
    }
  }
} finally {
  for (const directory of [made, before]) rmSync(directory, {recursive: true, force: true});
}

function moveAway() {
  rmSync(before, {recursive: true, force: true});
  try {
    renameSync('dist', before);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
  }
}

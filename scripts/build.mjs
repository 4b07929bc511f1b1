// npm run build: puts src and the embedded service's data together elsewhere, then that in dist's place at once, so that
// a command that runs beside it, or another build, never meets half of one. With --if-changed, only where dist was not
// made of the same.
import {execFileSync, spawn} from 'node:child_process';
import {once} from 'node:events';
import {chmodSync, cpSync, existsSync, readFileSync, renameSync, rmSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {bundle, bundleOne} from './bundle.mjs';
import {declarationsOf} from './declarations.mjs';
import {sourcesDigest} from './sources-digest.mjs';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));
const made = `.dist-${process.pid}`;
const before = `${made}-before`;
const madeOf = sourcesDigest();
const note = 'dist/sources.sha256';
if (process.argv.includes('--if-changed') && existsSync(note) && readFileSync(note, 'utf8') === madeOf)
  process.exit();

// On one thread and without collecting garbage it takes half of the processor's time.
const tsc = [
  'node_modules/typescript/bin/tsc',
  '-p',
  'tsconfig.build.json',
  '--outDir',
  `${made}/types`,
  '--singleThreaded',
];
const env = {...process.env, GOGC: 'off'};
const compiled = once(spawn(process.execPath, tsc, {stdio: 'inherit', env}), 'exit');
try {
  // What the code reads stands beside it there too.
  cpSync('src', made, {recursive: true, filter: path => !path.endsWith('.ts')});
  const pack = `${made}/chunks/pack.js`;
  await bundleOne('scripts/data/pack', pack);
  execFileSync(process.execPath, [pack, 'dist/service/data'], {stdio: 'inherit'});
  rmSync(pack);
  await bundle(['cli/bin', 'index', 'client'], made);
  // npx and npm link start the file itself. npm makes it executable only once, but each build writes a new one.
  chmodSync(`${made}/cli/bin.js`, 0o755);
  const [code] = await compiled;
  if (code !== 0) throw new Error(`tsc ended with ${code}`);
  // The code has the summary's type from its schema. Programs get it written out, without zod.
  const types = `${made}/chunks/written-types.js`;
  await bundleOne('scripts/written-types', types);
  const {writtenSummary} = await import(`../${types}`);
  writeFileSync(`${made}/types/report/summary.d.ts`, writtenSummary());
  rmSync(types);
  writeFileSync(`${made}/index.d.ts`, declarationsOf(`${made}/types`, 'index'));
  // An error of the client alone is that of the whole library: both have one declaration.
  const client = readFileSync(`${made}/types/client.d.ts`, 'utf8');
  writeFileSync(`${made}/client.d.ts`, client.replaceAll(/(?<= from )'[^']+'/g, "'./index.js'"));
  rmSync(`${made}/types`, {recursive: true});
  writeFileSync(`${made}/sources.sha256`, madeOf);
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
  await compiled;
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

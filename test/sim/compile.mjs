// Compiles src and the machine, with edits if there are any, so that plain Node.js can play seeds.
import {execFileSync} from 'node:child_process';
import {cpSync, mkdirSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Replaces what must be there exactly once: a text, or what a pattern matches. */
function edit(tree, [file, from, to]) {
  const path = join(tree, file);
  const text = readFileSync(path, 'utf8');
  const times = text.split(from).length - 1;
  if (times !== 1) throw new Error(`${file} has ${times} times: ${from}`);
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
}

/** Returns the directory of what was compiled. */
export function compile(name, edits = []) {
  const tree = join(root, 'node_modules', '.sim', name);
  rmSync(tree, {recursive: true, force: true});
  mkdirSync(join(tree, 'test'), {recursive: true});
  for (const part of ['src', 'test/sim', 'package.json'])
    cpSync(join(root, part), join(tree, part), {recursive: true});
  for (const one of edits) edit(tree, one);
  const settings = {
    extends: join(root, 'tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      rootDir: '.',
      outDir: 'out',
      noUnusedLocals: false,
      noUnusedParameters: false,
    },
    include: ['src', 'test/sim'],
    exclude: ['**/*.test.ts', '**/load-machine.ts', '**/play-seeds.ts'],
  };
  writeFileSync(join(tree, 'tsconfig.json'), JSON.stringify(settings));
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-p', tree], {
    stdio: 'inherit',
  });
  const out = join(tree, 'out');
  cpSync(join(root, 'package.json'), join(out, 'package.json'));
  writeFileSync(
    join(out, 'test/sim/world/driver.js'),
    "export {SimulatedDatabase as default} from './install.js';\n",
  );
  for (const file of ['src/disk/lock.js', 'src/ledger/sqlite.js'])
    edit(out, [file, "from 'libsql'", "from '../../test/sim/world/driver.js'"]);
  const packages = "import('../../test/sim/world/fleet-packages.js')";
  edit(out, ['src/fleet/redis.js', "import('bullmq'), import('ioredis')", `${packages}, ${packages}`]);
  return out;
}

// Compiles src and the machine into one file, with edits if there are any, so that plain Node.js can play seeds.
import {cpSync, mkdirSync} from 'node:fs';
import {basename, join, relative} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));
const world = join(root, 'test/sim/world');
const FLEET = `export * from '${world}/fleet-packages.ts'`;

/** Modules that src gets in place of packages, and of its own code, that reach real files and sockets. */
const SIMULATED = {
  libsql: `export {SimulatedDatabase as default} from '${world}/install.ts'`,
  bullmq: FLEET,
  ioredis: FLEET,
  'libphonenumber-js/max': `export * from '${world}/phone-library.ts'`,
  './http/transport.ts': `export {simulatedTransport as transport} from '${world}/install.ts'`,
  'node:zlib': `export * from 'node:zlib'; export {simulatedZlib as default} from '${world}/zlib.ts'`,
};

const inPlace = {
  name: 'in place of what is real',
  resolveId: (id, importer) =>
    id in SIMULATED && importer?.startsWith(join(root, 'src')) ? `\0${id}` : undefined,
  load: id => SIMULATED[id.slice(1)],
};

/** Returns a file's text with its edits. Each replaces what must be in it exactly once: a text, or what a pattern matches. */
export function edited(text, edits) {
  return edits.reduce((code, [file, from, to]) => {
    const times = code.split(from).length - 1;
    if (times !== 1) throw new Error(`${file} has ${times} times: ${from}`);
    return code.replace(from, () => to);
  }, text);
}

/** A plugin, of rolldown as of vite, that edits src before it is compiled; `all` says that each edit has to come to that. */
export function withEdits(edits, all = true) {
  const left = new Set(edits);
  return {
    name: 'edits',
    enforce: 'pre',
    transform(code, id) {
      const own = edits.filter(([file]) => file === relative(root, id));
      for (const edit of own) left.delete(edit);
      return edited(code, own);
    },
    buildEnd() {
      for (const [file] of all ? left : []) throw new Error(`${file} is no part of the simulation`);
    },
  };
}

/** What a task goes through, and a value before it becomes one: each method of these is counted. */
const COUNTED = ['src/lookup/queue-executor.ts', 'src/lookup/answers.ts'];

/** Has methods count how often they are called, in what `globalThis` has under this name. */
const counting = {
  name: 'counting',
  transform(code, id) {
    const file = COUNTED.find(name => id === join(root, name));
    if (file === undefined) return undefined;
    const counts = 'globalThis.methodsCalled';
    const names = [];
    const counted = code.replace(/^ {2}(?:async )?(#?\w+)\(.*\)(?:: [^{\n]+)? \{$/gm, (line, name) => {
      const key = `${basename(file, '.ts')} ${name}`;
      names.push(key);
      return `${line} ${counts}[${JSON.stringify(key)}] += 1;`;
    });
    const none = Object.fromEntries(names.map(name => [name, 0]));
    return `${counted}\nObject.assign(${counts} ??= {}, ${JSON.stringify(none)});\n`;
  },
};

/** Returns what was compiled, and the directory of its own that it is in. */
export async function compile(name, edits = []) {
  const out = join(root, 'node_modules', '.sim', name);
  const bundle = await rolldown({
    input: join(root, 'test/sim/machine.ts'),
    platform: 'node',
    external: (id, importer) =>
      /^[a-z@]/.test(id) && !(id in SIMULATED && importer?.startsWith(join(root, 'src'))),
    plugins: [inPlace, withEdits(edits), counting],
    checks: {ineffectiveDynamicImport: false},
  });
  const file = join(out, 'all', 'of', 'machine.js');
  await bundle.write({file, format: 'esm', codeSplitting: false});
  // Two directories above, as it is for src.
  mkdirSync(out, {recursive: true});
  cpSync(join(root, 'package.json'), join(out, 'package.json'));
  return {directory: out, file};
}

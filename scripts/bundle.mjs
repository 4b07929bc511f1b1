// Joins modules of src into few files, each with its source map: Node.js spends half of a command's start on opening a
// thousand small ones. Packages are installed beside them and loaded as themselves.
import {posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));

/** What a run loads one after the other, and what tells of an error before it; what else is told apart is the library, and its client alone. */
const stages = ['cli/bin', 'cli/program', 'cli/flags', 'cli/commands/run', 'cli/tell-failure', 'cli/run-job'];
const doors = ['index', 'client'];

/**
 * Joins modules that are always loaded together: to find a file costs Node as much as to compile twenty kilobytes.
 * What is needed by none of a run's stages is split as rolldown does by itself.
 */
function joined(modules) {
  const entries = modules.map(name => `${root}src/${name}.ts`);
  const imports = new Map();
  const reached = new Map();
  const closure = name => {
    const found = reached.get(name) ?? new Set();
    if (found.size > 0) return found;
    reached.set(name, found);
    const open = [`${root}src/${name}.ts`];
    for (let id = open.pop(); id !== undefined; id = open.pop())
      if (!found.has(id)) {
        found.add(id);
        open.push(...(imports.get(id) ?? []));
      }
    return found;
  };
  return {
    plugin: {
      name: 'know-imports',
      buildEnd() {
        for (const id of this.getModuleIds()) imports.set(id, this.getModuleInfo(id)?.importedIds ?? []);
        // Measurements bundle modules without the command.
        const isCommand = modules.includes('cli/bin');
        const missing = stages.filter(name => isCommand && !imports.has(`${root}src/${name}.ts`));
        if (missing.length > 0) throw new Error(`no such stage: ${missing.join(', ')}`);
      },
    },
    name(id) {
      // An entry waits for what it has loaded, which must not wait for it.
      if (entries.includes(id)) return null;
      const stage = stages.find(name => closure(name).has(id));
      if (stage === undefined) return null;
      return [posix.basename(stage), ...doors.filter(door => closure(door).has(id))].join('-');
    },
  };
}

/** Writes `modules`, as `cli/bin` of src/cli/bin.ts, into `directory`. */
export async function bundle(modules, directory) {
  const {plugin, name} = joined(modules);
  await write(
    Object.fromEntries(modules.map(name => [name, `${root}src/${name}.ts`])),
    {
      dir: directory,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      codeSplitting: {includeDependenciesRecursively: false, groups: [{name, debugName: 'stages'}]},
      sourcemap: true,
    },
    [plugin],
  );
}

/** Writes one module with all that it needs of src and scripts into one file. */
export const bundleOne = (module, file) => write(`${root}${module}.ts`, {file, codeSplitting: false});

async function write(input, output, plugins = []) {
  const bundled = await rolldown({
    cwd: root,
    platform: 'node',
    input,
    external: /^[@a-z]/,
    plugins,
    preserveEntrySignatures: 'allow-extension',
    transform: {target: 'node20'},
  });
  await bundled.write({...output, comments: {jsdoc: false}});
}

// Puts modules of src and the packages they need into few files: Node.js spends half of a command's start on opening a
// thousand small ones. What package.json names as a dependency or a peer is installed beside them and not put in, but for
// those of which only the types are needed beside them: zod is 150 files, and most are translations of its messages.
import {readFileSync} from 'node:fs';
import {isBuiltin} from 'node:module';
import {posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('../', import.meta.url));
const {dependencies, peerDependencies} = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const typesBeside = ['zod', 'pino'];
const beside = Object.keys({...dependencies, ...peerDependencies}).filter(
  name => !typesBeside.includes(name),
);
const isBeside = id => beside.some(name => id === name || id.startsWith(`${name}/`));

/**
 * Large packages that many a command does without: each is a file of its own, which is read when one of its names is
 * first used. To src they are imports like others.
 */
const later = [
  '@marcbachmann/cel-js',
  'bottleneck',
  'got',
  'iconv-lite',
  'libphonenumber-js/max',
  'pino',
  're2js',
  'string-width',
  'tinyglobby',
  'yaml',
];
/** The same, installed beside. */
const laterBeside = ['libsql'];
const fileOf = name => `packages/${name.replace(/^@/, '').replaceAll('/', '-')}.cjs`;

/** Stands in for a package that is read later: its default export can be called and constructed, and has its properties. */
const shellOf = (name, names) => `
let loaded;
const load = () => (loaded ??= __package__(${JSON.stringify(laterBeside.includes(name) ? name : fileOf(name))}));
const whole = () => load().default ?? loaded;
const names = ${JSON.stringify(names)};
const shell = function () {};
for (const name of names) Object.defineProperty(shell, name, {get: () => load()[name], enumerable: true, configurable: true});
module.exports = new Proxy(shell, {
  get: (_, key) => (names.includes(key) ? load()[key] : whole()[key]),
  apply: (_, self, given) => Reflect.apply(whole(), self, given),
  construct: (_, given) => Reflect.construct(whole(), given),
});
`;

const loadLater = {
  name: 'load-later',
  resolveId: id => ([...later, ...laterBeside].includes(id) ? `\0later:${id}` : undefined),
  async load(id) {
    if (!id.startsWith('\0later:')) return;
    const name = id.slice('\0later:'.length);
    const names = Object.keys(await import(name)).filter(
      key => key !== 'default' && key !== 'module.exports',
    );
    return {code: shellOf(name, names), moduleType: 'js'};
  },
  renderChunk(code, {fileName}) {
    return code.replace(/__package__\("([^"]+)"\)/g, (_, file) => {
      const path = JSON.stringify(isBeside(file) ? file : relativeTo(fileName, file));
      return `process.getBuiltinModule("node:module").createRequire(import.meta.url)(${path})`;
    });
  },
};

/** Parts of packages that nothing here comes to: got caches nothing and speaks no HTTP/2, pino has no thread. */
const unused = {
  'cacheable-request': 'export default undefined; export class CacheError extends Error {}',
  'http2-wrapper': 'export default {};',
  'thread-stream': 'module.exports = undefined;',
};

const leaveOut = {
  name: 'leave-out',
  resolveId: id => (Object.hasOwn(unused, id) ? `\0unused:${id}` : undefined),
  load: id => (id.startsWith('\0unused:') ? unused[id.slice('\0unused:'.length)] : undefined),
};

/** Where a module of src would lie had it been compiled alone: what it reads lies beside that. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(`${root}src/`) || !code.includes('import.meta.url')) return;
    const place = id.slice(`${root}src/`.length).replace(/\.ts$/, '.js');
    return code.replaceAll('import.meta.url', `__place__(${JSON.stringify(place)})`);
  },
  renderChunk(code, {fileName}) {
    return code.replace(
      /__place__\("([^"]+)"\)/g,
      (_, place) => `new URL(${JSON.stringify(relativeTo(fileName, place))}, import.meta.url).href`,
    );
  },
};

function relativeTo(fileName, path) {
  const from = posix.relative(posix.dirname(fileName), path);
  return from.startsWith('.') ? from : `./${from}`;
}

/**
 * Takes what Node itself has by a call: an import reads every name that such a module exports, and on Node 24 a name of
 * `node:http` loads all of undici, which takes longer than Node's own start.
 */
const takeBuiltins = {
  name: 'take-builtins',
  renderChunk: code =>
    code.replace(
      /^import (?:(\w[\w$]*)(?:, )?)?(?:\* as (\w[\w$]*)|\{ (.*) \})? from "([\w/:]+)";$/gm,
      (all, whole, namespace, names, module) => {
        if (!isBuiltin(module)) return all;
        const taken = `process.getBuiltinModule(${JSON.stringify(module)})`;
        return [
          ...[whole, namespace].filter(Boolean).map(name => `const ${name} = ${taken};`),
          ...(names === undefined ? [] : [`const { ${names.replaceAll(' as ', ': ')} } = ${taken};`]),
        ].join(' ');
      },
    ),
};

/** What a run loads one after the other; what else is told apart is the library, and its client alone. */
const stages = ['cli/bin', 'cli/begin', 'cli/flags', 'cli/commands/run', 'cli/commands/run-job'];
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

/**
 * Writes `modules`, as `cli/bin` of src/cli/bin.ts, into `directory`.
 * @returns the packages that went in, by their directories from the root
 */
export async function bundle(modules, directory) {
  const {plugin, name} = joined(modules);
  const main = await writeBundle(
    {
      input: Object.fromEntries(modules.map(name => [name, `src/${name}.ts`])),
      plugins: [loadLater, keepPlaces, takeBuiltins, plugin],
      external: id => isBeside(id) && !laterBeside.includes(id),
      preserveEntrySignatures: 'allow-extension',
    },
    {
      dir: directory,
      entryFileNames: '[name].js',
      chunkFileNames: 'chunks/[name]-[hash].js',
      codeSplitting: {includeDependenciesRecursively: false, groups: [{name, debugName: 'stages'}]},
    },
  );
  const needed = later.filter(name => main.some(({moduleIds}) => moduleIds?.includes(`\0later:${name}`)));
  const packed = needed.map(name =>
    writeBundle(
      {input: name, plugins: [leaveOut]},
      {file: `${directory}/${fileOf(name)}`, format: 'cjs', exports: 'named'},
    ),
  );
  const written = [main, ...(await Promise.all(packed))];
  const packages = written
    .flat()
    .flatMap(({moduleIds = []}) => moduleIds)
    .map(id =>
      /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0].slice(id.startsWith(root) ? root.length : 0),
    );
  return [...new Set(packages.filter(path => path !== undefined))].sort();
}

async function writeBundle(input, output) {
  const bundled = await rolldown({
    cwd: root,
    platform: 'node',
    external: isBeside,
    transform: {target: 'node20'},
    // bottleneck asks for an optional package that way, which is handed to it here.
    checks: {eval: false},
    ...input,
  });
  const written = await bundled.write({comments: {jsdoc: false}, ...output});
  return written.output;
}

// Puts modules of src and the packages they need into few files: Node.js spends half of a command's start on opening a
// thousand small ones. What package.json names as a dependency or a peer is installed beside them and not put in, but for
// zod, of which only the types are needed beside them: it is 150 files, and most are translations of its messages.
import {readFileSync} from 'node:fs';
import {posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {rolldown} from 'rolldown';

const root = fileURLToPath(new URL('../../', import.meta.url));
const {dependencies, peerDependencies} = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
const beside = Object.keys({...dependencies, ...peerDependencies}).filter(name => name !== 'zod');

/** Where a module of src would lie had it been compiled alone: what it reads lies beside that. */
const keepPlaces = {
  name: 'keep-places',
  transform(code, id) {
    if (!id.startsWith(`${root}src/`) || !code.includes('import.meta.url')) return;
    const place = id.slice(`${root}src/`.length).replace(/\.ts$/, '.js');
    return code.replaceAll('import.meta.url', `__place__(${JSON.stringify(place)})`);
  },
  renderChunk(code, {fileName}) {
    return code.replace(/__place__\("([^"]+)"\)/g, (_, place) => {
      const from = posix.relative(posix.dirname(fileName), place);
      return `new URL(${JSON.stringify(from.startsWith('.') ? from : `./${from}`)}, import.meta.url).href`;
    });
  },
};

/**
 * Writes `modules`, as `cli/bin` of src/cli/bin.ts, into `directory`.
 * @returns the packages that went in, by their directories from the root
 */
export async function bundle(modules, directory) {
  const bundled = await rolldown({
    cwd: root,
    input: Object.fromEntries(modules.map(name => [name, `src/${name}.ts`])),
    platform: 'node',
    external: id => beside.some(name => id === name || id.startsWith(`${name}/`)),
    transform: {target: 'node20'},
    plugins: [keepPlaces],
    // bottleneck asks for an optional package that way, which is handed to it here.
    checks: {eval: false},
  });
  const {output} = await bundled.write({
    dir: directory,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  });
  const packages = output
    .flatMap(({moduleIds = []}) => moduleIds)
    .map(id =>
      /^.*node_modules\/(@[^/]+\/)?[^/]+/.exec(id)?.[0].slice(id.startsWith(root) ? root.length : 0),
    );
  return [...new Set(packages.filter(path => path !== undefined))].sort();
}

// Modules of src, for measurements that need more than the command and what it exports.
import {rmSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {bundle} from '../scripts/bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The modules by these names, such as `ledger/lookup`, together in one object. */
export async function fromSrc(...names) {
  // Beside node_modules, as packages are found from there.
  const directory = `${root}.dist-bench-${process.pid}`;
  // Packages are read when they are first used.
  process.once('exit', () => rmSync(directory, {recursive: true, force: true}));
  await bundle(names, directory);
  const modules = await Promise.all(names.map(name => import(`${directory}/${name}.js`)));
  return Object.assign({}, ...modules);
}

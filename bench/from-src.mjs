// Modules of src, for measurements that need more than the command and what it exports.
import {cpSync, rmSync, statSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {bundle} from '../scripts/bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** The modules by these names, such as `ledger/lookup-outcome`, together in one object. */
export async function fromSrc(...names) {
  // Beside node_modules, as packages are found from there.
  const directory = `${root}.dist-bench-${process.pid}`;
  // Packages are read when they are first used.
  process.once('exit', () => rmSync(directory, {recursive: true, force: true}));
  await bundle(names, directory);
  // The lists that src reads are beside its modules.
  const isList = path => statSync(path).isDirectory() || path.endsWith('.csv');
  cpSync(`${root}src`, directory, {recursive: true, filter: isList});
  const modules = await Promise.all(names.map(name => import(`${directory}/${name}.js`)));
  return Object.assign({}, ...modules);
}

import {createHash} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';

/** What dist is made of, beside src: what makes it, and which packages it is made with. */
const makers = ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'];

/** Changes with anything that dist, below the working directory, is made of. */
export function sourcesDigest() {
  const files = ['src', 'scripts']
    .flatMap(directory => readdirSync(directory, {recursive: true, withFileTypes: true}))
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name))
    .sort();
  const hash = createHash('sha256');
  for (const file of [...makers, ...files]) hash.update(`${file}\0`).update(readFileSync(file)).update('\0');
  return hash.digest('hex');
}

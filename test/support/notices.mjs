// What the package stands on, with the licences' texts: of the packages that are installed with it, and of the data in it.
import {readdirSync, readFileSync} from 'node:fs';

const LICENCE = /^(licen[cs]e|copying|notice)/i;
const LINE = `\n${'-'.repeat(80)}\n\n`;

/** The packages that an installation brings, by the lock file; `path` is where they are in a clone. */
function shippedPackages() {
  const {packages} = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  return Object.entries(packages)
    .filter(([path, {dev}]) => path !== '' && !dev)
    .map(([path, entry]) => ({...entry, path, name: path.replace(/^.*node_modules\//, '')}));
}

export function notices(dataLicences) {
  const parts = shippedPackages().map(entry => {
    const title = `${entry.name} ${entry.version} (${entry.license})`;
    // The binaries of other platforms are not installed here; all of them are built from one source.
    const texts = entry.name.startsWith('@libsql/') ? textsIn('node_modules/libsql') : textsIn(entry.path);
    if (texts.length === 0) throw new Error(`${title} has no licence text`);
    return [title, ...texts].join('\n\n');
  });
  return [
    'Packages that are installed with this one\n',
    ...parts,
    `Data in this package\n\n${dataLicences}`,
  ].join(LINE);
}

function textsIn(directory) {
  return readdirSync(directory)
    .filter(name => LICENCE.test(name))
    .map(name => readFileSync(`${directory}/${name}`, 'utf8').trim());
}

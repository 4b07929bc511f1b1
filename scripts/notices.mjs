// What the package stands on, with the licences' texts: of the packages in it or installed with it, and of the data in it.
import {readdirSync, readFileSync} from 'node:fs';
import {shippedPackages} from './shipped-packages.mjs';

const LICENCE = /^(licen[cs]e|copying|notice)/i;
const LINE = `\n${'-'.repeat(80)}\n\n`;

/** Data of others in the packages' code, under other terms than theirs. */
const DATA_IN_PACKAGES = `Public Suffix List (MPL-2.0), in tldts

This Source Code Form is subject to the terms of the Mozilla Public License, v. 2.0. If a copy of the MPL was not
distributed with this file, You can obtain one at https://mozilla.org/MPL/2.0/. The list is at
https://publicsuffix.org/list/public_suffix_list.dat; tldts has it in another form, whose source is that list.`;

/** @param bundled the packages that the build put into the package, as `bundle` returns them */
export function notices(bundled, dataLicences) {
  const parts = Object.entries(shippedPackages(bundled)).map(([path, {version, license}]) => {
    const name = path.replace(/^.*node_modules\//, '');
    const title = `${name} ${version} (${license})`;
    // The binaries of other platforms are not installed here; all of them are built from one source.
    const texts = textsIn(name.startsWith('@libsql/') ? 'node_modules/libsql' : path);
    if (texts.length === 0) throw new Error(`${title} has no licence text`);
    return [title, ...texts].join('\n\n');
  });
  return [
    'Packages that are in this one or installed with it\n',
    ...parts,
    DATA_IN_PACKAGES,
    `Data in this package\n\n${dataLicences}`,
  ].join(LINE);
}

function textsIn(directory) {
  return readdirSync(directory)
    .filter(name => LICENCE.test(name))
    .map(name => readFileSync(`${directory}/${name}`, 'utf8').trim());
}

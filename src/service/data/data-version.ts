import {hash} from 'node:crypto';
import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {memoize} from '../../operations/memoize.ts';
import {sourceFile} from '../../operations/package-files.ts';
import {cityPackage, dataDirectory, installedVersion, readManifest} from './packed-data.ts';

/**
 * A short hash of the data from which the embedded service answers: the packed files, the installed packages, and
 * this project's own lists. It changes whenever any of them changes.
 */
export const dataVersion = memoize(() => versionWith(sourceFile('')));

/** @param ownLists the folder with this project's lists, as CSV */
export function versionWith(ownLists: string): string {
  const {fingerprint} = readManifest(dataDirectory());
  const installed = [cityPackage, 'libphonenumber-js', 'tldts'].map(installedVersion);
  const lists = readdirSync(ownLists, {recursive: true, encoding: 'utf8'})
    .filter(file => file.endsWith('.csv'))
    .sort()
    .map(file => readFileSync(join(ownLists, file), 'utf8'));
  return hash('sha256', JSON.stringify([fingerprint, ...installed, ...lists])).slice(0, 12);
}

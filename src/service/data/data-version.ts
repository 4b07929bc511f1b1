import {hash} from 'node:crypto';
import {dataDirectory} from './data-dir.ts';
import {cityPackage, installedVersion} from './installed-version.ts';
import {readManifest} from './manifest.ts';

/** Changes whenever the data does that the embedded service answers from. */
export function dataVersion(): string {
  const {fingerprint} = readManifest(dataDirectory());
  const installed = [cityPackage, 'libphonenumber-js', 'tldts'].map(installedVersion);
  return hash('sha256', JSON.stringify([fingerprint, ...installed])).slice(0, 12);
}

import {existsSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {packageFile, sourceFile} from '../../operations/package-files.ts';

/**
 * The packed files' names. The build (`scripts/data/pack.ts`) writes the files, and the service reads them. All but the last two
 * files are gzipped.
 */
export const files = {
  asn: 'asn.bin.gz',
  country: 'country.bin.gz',
  countries: 'countries.json.gz',
  carriers: 'carriers.json.gz',
  disposablePhones: 'disposable-phones.bin.gz',
  mailchecker: 'mailchecker.txt.gz',
  mailBlocklist: 'mail-blocklist.txt.gz',
  mailProviders: 'mail-providers.txt.gz',
  mailMainstream: 'mail-mainstream.txt.gz',
  licences: 'licences.txt',
  manifest: 'manifest.json',
} as const;

/**
 * The folder of the packed data, which is this module's own folder in `dist`. If this module runs from `src`, as
 * in tests, it reads the folder in `dist` too.
 *
 * @throws an error if the data was never packed.
 */
export function dataDirectory(): string {
  const found = [sourceFile('service/data'), packageFile('dist/service/data')].find(each =>
    existsSync(join(each, files.manifest)),
  );
  if (found === undefined) throw new Error('the embedded service has no packed data: run `npm run build`');
  return found;
}

export const readPacked = (directory: string, file: string): Buffer =>
  gunzipSync(readFileSync(join(directory, file)));

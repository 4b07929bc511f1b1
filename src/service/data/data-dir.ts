import {existsSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';

/** The packed files' names; `pack.ts` writes them at build, the readers beside it read them. */
export const files = {
  asn: 'asn.bin',
  country: 'country.bin',
  countries: 'countries.json',
  carriers: 'carriers.json',
  disposablePhones: 'disposable-phones.bin',
  mailchecker: 'mailchecker.txt',
  mailBlocklist: 'mail-blocklist.txt',
  mailProviders: 'mail-providers.txt',
  mailMainstream: 'mail-mainstream.txt',
  manifest: 'manifest.json',
} as const;

/**
 * The folder of the packed data: beside this module when it runs from `dist`, else (tests and tools that run the
 * sources) where the build put it.
 * @throws when the data was never packed
 */
export function dataDirectory(): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const found = [here, join(here, '../../../dist/service/data')].find(each =>
    existsSync(join(each, files.manifest)),
  );
  if (found === undefined) throw new Error('the embedded service has no packed data: run `npm run build`');
  return found;
}

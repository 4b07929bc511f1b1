import {createRequire} from 'node:module';
import {readBundledList} from '../../src/operations/package-files.ts';
import {type DataSet, files} from '../../src/service/data/packed-data.ts';
import {type Packed, packAsn, packCountries} from './pack-ip.ts';
import {packCarriers, packCountryNames, packDisposablePhones, packLines} from './pack-names.ts';

const require = createRequire(import.meta.url);

/** A data set, how to pack it, and the name of its packed file. */
export interface PackedSet extends Omit<DataSet, 'version' | 'entries'> {
  file: string;
  pack(): Packed;
}

const packs = {
  asn: packAsn,
  country: packCountries,
  countries: packCountryNames,
  carriers: packCarriers,
  disposablePhones: packDisposablePhones,
  mailchecker: () => packLines(require('mailchecker').blacklist()),
  mailBlocklist: () => packLines(require('disposable-email-domains-js').disposableEmailBlocklist()),
  mailProviders: () => packLines(require('email-providers/all.json')),
  mailMainstream: () => packLines(require('email-providers/common.json')),
} as const;

/** Beside this file. The build works in the repository's root. */
export const LIST = 'scripts/data/pack-sets.csv';

/**
 * The data sets for `pack.ts`, as listed in `pack-sets.csv`. The CSV names each licence as in the package's
 * licence file, since `package.json` may lack it.
 */
export const packedSets: PackedSet[] = readBundledList<
  'name' | 'licence' | 'attribution' | 'link' | 'fields' | 'file'
>(LIST).map(({fields, file, ...about}) => ({
  ...about,
  fields: fields.split('; '),
  file: files[file as keyof typeof packs],
  pack: packs[file as keyof typeof packs],
}));

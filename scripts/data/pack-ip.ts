import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {type CountryResponse, Reader} from 'mmdb-lib';
import {encode, type PackedColumn} from './encode.ts';

const require = createRequire(import.meta.url);

/** A data set, packed into one file. */
export interface Packed {
  file: Buffer;
  entries: number;
  /** Day of the data (ISO 8601), if known. */
  date?: string;
}

/** Rows of @ip-location-db/asn: first address, last address, AS number and holder, which may be quoted. */
const asnRow = /^(\d+),(\d+),(\d+),(?:"((?:[^"]|"")*)"|(.*))$/;

/** Packs the sorted IPv4 ranges with the numbers of their autonomous systems (AS), and each AS's holder. */
export function packAsn(): Packed {
  const lines = readFileSync(require.resolve('@ip-location-db/asn/asn-ipv4-num.csv'), 'utf8').split('\n');
  const gap: number[] = [];
  const length: number[] = [];
  const asn: number[] = [];
  let next = 0;
  let previous = -1;
  const holders = new Map<number, string>();
  for (const line of lines) {
    const row = asnRow.exec(line.trimEnd());
    if (row === null) continue;
    const [start, end, number] = [Number(row[1]), Number(row[2]), Number(row[3])];
    if (start <= previous)
      throw new Error('@ip-location-db/asn is not sorted as it was: sort it in pack-ip.ts');
    gap.push(start - next);
    length.push(end + 1 - start);
    asn.push(number);
    next = end + 1;
    previous = start;
    const holder = row[4]?.replaceAll('""', '"') ?? row[5] ?? '';
    if (!holders.get(number)) holders.set(number, holder);
  }
  const columns = {
    gap: Uint32Array.from(gap),
    length: Uint32Array.from(length),
    asn: Uint32Array.from(asn),
    ...packHolders(holders),
  };
  return {file: encode(columns), entries: asn.length};
}

function packHolders(holders: Map<number, string>): Record<string, PackedColumn> {
  const sorted = [...holders].sort(([a], [b]) => a - b);
  const names = sorted.map(([, name]) => Buffer.from(name));
  return {
    holderGap: distances(sorted.map(([number]) => number)),
    nameLength: Uint32Array.from(names, name => name.length),
    name: new Uint8Array(Buffer.concat(names)),
  };
}

/** The first of the sorted numbers, then each further number's distance from the number before it. */
const distances = (sorted: number[]): Uint32Array =>
  Uint32Array.from(sorted, (each, index) => each - (index === 0 ? 0 : (sorted[index - 1] as number)));

/** A record of this data set, with the country's code. mmdb-lib's types only describe MaxMind's own records. */
type CountryRecord = CountryResponse & {country_code: string};

/** Packs the first addresses of IPv4 ranges, each with the index of its country in a list of country codes. */
export function packCountries(): Packed {
  const path = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country-ipv4.mmdb';
  const reader = new Reader<CountryRecord>(readFileSync(require.resolve(path)));
  const codes: string[] = [''];
  const start: number[] = [];
  const country: number[] = [];
  for (let address = 0; address < 2 ** 32; ) {
    const [record, prefix] = reader.getWithPrefixLength(dotted(address));
    const code = record?.country_code ?? '';
    if (!codes.includes(code)) codes.push(code);
    const index = codes.indexOf(code);
    if (country.at(-1) !== index) {
      start.push(address);
      country.push(index);
    }
    address += 2 ** (32 - prefix);
  }
  const columns = {
    gap: distances(start),
    country: Uint8Array.from(country),
    code: new Uint8Array(Buffer.from(codes.join(','))),
  };
  const date = new Date(reader.metadata.buildEpoch).toISOString().slice(0, 10);
  return {file: encode(columns), entries: start.length, date};
}

const dotted = (address: number): string =>
  [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.');

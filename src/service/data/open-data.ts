import {once} from '../../operations/once.ts';
import {dataDirectory, files, readPacked} from './data-dir.ts';
import {CityTable} from './tables/city-table.ts';
import {AsnTable, CountryTable} from './tables/ip-tables.ts';
import {MailDomains} from './tables/mail-domains.ts';
import {CarrierTable, DisposablePhones} from './tables/phone-tables.ts';

/** ISO 3166 code → the country's name and continent. */
export type CountryNames = Record<string, {name: string; continent: string} | undefined>;

/** The open data. Each table is loaded on first use, and never changes. */
export class OpenData {
  readonly directory: string = dataDirectory();
  readonly asn = once(() => new AsnTable(this.directory));
  readonly country = once(() => new CountryTable(this.directory));
  /** Returns undefined if the optional city data is not installed. */
  readonly city = once(() => CityTable.load());
  readonly carriers = once(() => new CarrierTable(this.directory));
  readonly disposablePhones = once(() => new DisposablePhones(this.directory));
  readonly mailDomains = once(() => new MailDomains(this.directory));
  readonly countryNames = once(
    (): CountryNames => JSON.parse(readPacked(this.directory, files.countries).toString()),
  );
}

let loaded: WeakRef<OpenData> | undefined;

/** Returns the open data, which all services of this process share. It leaves memory once no service uses it. */
export function openData(): OpenData {
  const known = loaded?.deref();
  if (known !== undefined) return known;
  const data = new OpenData();
  loaded = new WeakRef(data);
  return data;
}

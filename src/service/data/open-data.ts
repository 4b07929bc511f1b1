import {type MailProviderKind, mailProviders} from '../../operations/mail/mail-providers.ts';
import {memoize} from '../../operations/memoize.ts';
import {AsnTable} from './networks/networks.ts';
import {addUp, dataDirectory, files, lastNotAbove, PackedFile, readPacked} from './packed-data.ts';
import {CityTable} from './tables/city-table.ts';

/** ISO 3166 code → the country's name and continent. */
export type CountriesByCode = Record<string, {name: string; continent: string} | undefined>;

/** The open data. Each table is loaded on first use, and never changes. */
export class OpenData {
  readonly directory: string = dataDirectory();
  readonly asn = memoize(() => new AsnTable(this.directory));
  readonly country = memoize(() => new CountryTable(this.directory));
  readonly city = memoize(() => CityTable.load());
  readonly carriers = memoize(() => new CarrierTable(this.directory));
  readonly disposablePhones = memoize(() => new DisposablePhones(this.directory));
  readonly mailDomains = memoize(() => new MailDomains(this.directory));
  readonly countryNames = memoize(
    (): CountriesByCode => JSON.parse(readPacked(this.directory, files.countries).toString()),
  );
}

let loaded: WeakRef<OpenData> | undefined;

/** Returns the open data, which all services of this process share. It leaves memory once no service uses it. */
export function loadOpenData(): OpenData {
  const known = loaded?.deref();
  if (known !== undefined) return known;
  const data = new OpenData();
  loaded = new WeakRef(data);
  return data;
}

/** Countries in which IPv4 addresses are registered. */
class CountryTable {
  readonly #start: Uint32Array;
  readonly #country: Uint8Array;
  readonly #codes: string[];

  constructor(directory: string) {
    const packed = new PackedFile(readPacked(directory, files.country));
    this.#start = addUp(packed.column('gap', 'u32'));
    this.#country = packed.column('country', 'u8');
    this.#codes = new TextDecoder().decode(packed.column('code', 'u8')).split(',');
  }

  /** @returns an ISO 3166 code; undefined if the country is unknown */
  find(address: number): string | undefined {
    const index = this.#country[lastNotAbove(this.#start, address)] ?? 0;
    return this.#codes[index] || undefined;
  }
}

interface CarrierFile {
  names: string[];
  prefixes: Record<string, Record<string, number>>;
}

/** Finds the carrier to which a number's range was first allocated. A ported number has another carrier. */
class CarrierTable {
  readonly #names: string[];
  readonly #prefixes: Map<string, Map<string, number>>;

  constructor(directory: string) {
    const packed: CarrierFile = JSON.parse(readPacked(directory, files.carriers).toString());
    this.#names = packed.names;
    this.#prefixes = new Map(
      Object.entries(packed.prefixes).map(([code, table]) => [code, new Map(Object.entries(table))]),
    );
  }

  /** The longest matching prefix wins, as in libphonenumber's carrier mapper. */
  find(callingCode: string, nationalNumber: string): string | undefined {
    const table = this.#prefixes.get(callingCode);
    if (table === undefined) return undefined;
    for (let length = nationalNumber.length; length > 0; length--) {
      const index = table.get(nationalNumber.slice(0, length));
      if (index !== undefined) return this.#names[index] || undefined;
    }
    return undefined;
  }
}

class DisposablePhones {
  readonly #numbers: Float64Array;

  constructor(directory: string) {
    this.#numbers = new PackedFile(readPacked(directory, files.disposablePhones)).column('number', 'f64');
  }

  /** @param e164 with its leading `+` */
  has(e164: string): boolean {
    const number = Number(e164.slice(1));
    return this.#numbers[lastNotAbove(this.#numbers, number)] === number;
  }
}

/** The list that a mail domain is on; `other` for domains on no list, such as a company's. */
export type MailDomainKind = MailProviderKind | 'other';

/** Finds the kind of a mail domain: in this project's own table, else in the lists of npm packages. */
class MailDomains {
  readonly #kinds = new Map<string, MailDomainKind>();

  constructor(directory: string) {
    const domainsIn = (file: string): string[] => readPacked(directory, file).toString().split('\n');
    for (const domain of domainsIn(files.mailProviders)) this.#kinds.set(domain, 'provider');
    const mainstream = new Set(domainsIn(files.mailMainstream));
    for (const domain of mainstream) this.#kinds.set(domain, 'mainstream');
    const blocklist = new Set(domainsIn(files.mailBlocklist));
    const mailchecker = new Set(domainsIn(files.mailchecker));
    for (const domain of [...blocklist, ...mailchecker]) {
      const isDoubtful = mainstream.has(domain) && !(blocklist.has(domain) && mailchecker.has(domain));
      // If the list of large providers has a domain, and only one blocklist does, the lists disagree: kind `other`.
      this.#kinds.set(domain, isDoubtful ? 'other' : 'disposable');
    }
    for (const [domain, {kind}] of mailProviders()) this.#kinds.set(domain, kind);
  }

  /**
   * Looks up the domain, then each above it down to the registered one: `x.mailinator.com` is as disposable as
   * `mailinator.com`.
   */
  kindOf(domain: string, registrable: string): MailDomainKind {
    for (let name = domain; name.length >= registrable.length; name = name.slice(name.indexOf('.') + 1)) {
      const kind = this.#kinds.get(name);
      if (kind !== undefined) return kind;
    }
    return 'other';
  }
}

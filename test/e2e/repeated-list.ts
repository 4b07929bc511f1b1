import {stringify} from 'csv-stringify/sync';
import {parsePhoneNumber} from 'libphonenumber-js';

/** A list in which 40% of the values repeat an earlier one in another spelling, and the values to look up. */
export interface RepeatedList {
  readonly csv: string;
  readonly rows: readonly (readonly string[])[];
  /** `<operation> <canonical value>` of every value that can be one. */
  readonly distinct: ReadonlySet<string>;
}

export const header = ['id', 'contact ip', 'e-mail', 'phone', 'country', 'note'] as const;

/** `rows` rows with one value each: an IP, an e-mail address or a phone number in turn; one in 50 can be none. */
export function repeatedList(rows: number): RepeatedList {
  const distinct = new Set<string>();
  const table: string[][] = [];
  for (let n = 0; n < rows; n++) {
    // Of five rows the first three have values of their own, and two have one of up to three fives ago.
    const fivesAgo = Math.min((n * 7) % 3, Math.floor(n / 5));
    const value = n % 5 < 3 ? n : n - 3 - 5 * fivesAgo;
    const kind = kinds[value % 3] as (typeof kinds)[number];
    const {canonical, spellings} = kind.make(value);
    const row = [String(n).padStart(7, '0'), '', '', '', '', `=note ${n}, "quoted"`];
    if (n % 50 === 49) row[kind.column] = 'not one of them';
    else {
      distinct.add(`${kind.operation} ${canonical}`);
      row[kind.column] = spellings[n % spellings.length] as string;
    }
    row[4] = 'US';
    table.push(row);
  }
  return {csv: stringify([[...header], ...table]), rows: table, distinct};
}

/** Area codes in use in the United States. */
const areas = Array.from({length: 700}, (_, n) => 201 + n).filter(area =>
  parsePhoneNumber(`+1${area}5550100`).isValid(),
);

const kinds = [
  {
    operation: 'ip',
    column: 1,
    make: (n: number) => {
      const canonical = `198.18.${Math.floor(n / 256) % 256}.${n % 256}`;
      const other = `198.19.${Math.floor(n / 256) % 256}.${n % 256}`;
      const ip = n < 65_536 ? canonical : other;
      return {canonical: ip, spellings: [ip, ` ${ip}`, `::ffff:${ip}`, `${ip}\t`]};
    },
  },
  {
    operation: 'email',
    column: 2,
    make: (n: number) => {
      const canonical = `User.${n}@example.com`;
      return {canonical, spellings: [canonical, `User.${n}@EXAMPLE.com`, `  User.${n}@example.COM.`]};
    },
  },
  {
    operation: 'phone',
    column: 3,
    make: (n: number) => {
      // 555-0100 to 555-0199 are for fiction, in every area.
      const [block, last] = [Math.floor(n / 300), Math.floor(n / 3) % 100];
      const area = areas[block % areas.length];
      const exchange = 2 + ((3 + Math.floor(block / areas.length)) % 8);
      const line = `01${String(last).padStart(2, '0')}`;
      const national = `${exchange}55${line}`;
      const canonical = `+1${area}${national}`;
      const spellings = [
        canonical,
        `(${area}) ${exchange}55-${line}`,
        `1-${area}-${exchange}55-${line}`,
        `+1 ${area} ${exchange}55 ${line}`,
        `tel:${canonical}`,
      ];
      return {canonical, spellings};
    },
  },
] as const;

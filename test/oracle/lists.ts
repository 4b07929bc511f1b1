import {
  type CountryCode,
  getCountries,
  getExampleNumber,
  Metadata,
  type PhoneNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import {randomOf} from '../support/random.ts';
import {addressKinds, wide} from './addresses.ts';
import type {KnownList, Undecidable} from './known-list.ts';

const pick = <T>(random: () => number, some: readonly T[]): T =>
  some[Math.floor(random() * some.length)] as T;
const digitsOf = (text: string) => text.replace(/\D/g, '');
const parsed = (text: string, country?: CountryCode) =>
  parsePhoneNumberFromString(text, {extract: false, ...(country && {defaultCountry: country})});

const POOL = 8;
const pools = new Map<CountryCode, readonly PhoneNumber[]>();

/** Valid numbers of a country: mobile ones near the example, and others by chance. */
function numbersOf(country: CountryCode): readonly PhoneNumber[] {
  const known = pools.get(country);
  if (known !== undefined) return known;
  const random = randomOf(country.charCodeAt(0) * 256 + country.charCodeAt(1));
  const example = getExampleNumber(country, examples);
  const found: PhoneNumber[] = [];
  const add = (national: string) => {
    const number = example && parsed(`+${example.countryCallingCode}${national}`);
    if (number?.isValid() === true && number.country === country) found.push(number);
  };
  const metadata = new Metadata();
  metadata.selectNumberingPlan(country);
  const lengths = metadata.numberingPlan?.possibleLengths() ?? [];
  for (let tries = 0; tries < 60 && found.length < POOL / 2; tries++)
    add(Array.from({length: pick(random, lengths)}, () => Math.floor(random() * 10)).join(''));
  for (let tries = 0; tries < 60 && found.length < POOL && example !== undefined; tries++)
    add(example.nationalNumber.slice(0, -3) + String(Math.floor(random() * 1_000)).padStart(3, '0'));
  pools.set(country, found);
  return found;
}

const arabic = (text: string) => text.replace(/\d/g, digit => String.fromCharCode(0x660 + Number(digit)));

/** Spellings of a number; `from` is the country in which the list says that it is. */
const spellings: Readonly<
  Record<string, (number: PhoneNumber, from: CountryCode | undefined) => string | undefined>
> = {
  plus: number => number.number,
  formatted: number => number.formatInternational(),
  '00': number => `00${digitsOf(number.number)}`,
  'own prefix': (number, from) => from && number.format('IDD', {fromCountry: from}),
  'no plus': number => digitsOf(number.number),
  'no plus, .0': number => `${digitsOf(number.number)}.0`,
  national: number => number.formatNational(),
  'trunk dropped': number => String(BigInt(number.nationalNumber)),
  'trunk dropped, .0': number => `${BigInt(number.nationalNumber)}.0`,
  '(0)': number => number.formatInternational().replace(/^(\+\d+) /, '$1 (0)'),
  'tel:': number => `tel:${number.number}`,
  'whatsapp:': number => `whatsapp:${number.number}`,
  'full-width': number => wide(number.formatInternational()),
  Arabic: number => arabic(number.formatNational()),
  dots: number => number.formatInternational().replaceAll(' ', '.'),
  slash: number => number.formatNational().replace(/[ -]/, '/'),
  range: number => `${number.formatNational()}-15`,
};
const spellingNames = Object.keys(spellings);
const hints = ['country column', 'default country', 'no country', 'wrong country'] as const;
const lengths = [1, 3, 10, 100] as const;
/** How often a list has one of these lengths: long ones take most of the time, and show the least. */
const often = [0.45, 0.8, 0.985, 1] as const;
const shares = [0, 0, 0.1, 0.4] as const;
const mixtures = ['alone', 'alone', 'with plus', 'four countries'] as const;
const nothings = ['n/a', '-', '?', 'TBD', 'unknown', 'call me', 'ask Joe', 'no phone, only mail'] as const;

/** True for digits that, as they stand, are a number of this country as the country itself writes it. */
function isOwnForm(text: string, country: CountryCode | undefined): boolean {
  const number = country && parsed(text.replace(/\.0$/, ''), country);
  const isValid = number?.isValid() === true;
  return isValid && digitsOf(number.formatNational()) === digitsOf(text.replace(/\.0$/, ''));
}

function undecidableAs(name: string, text: string, number: PhoneNumber, from: CountryCode | undefined) {
  const isWhole = name.startsWith('no plus');
  const isNational = /^(?:national|trunk|Arabic|slash)/.test(name);
  const plain = name === 'Arabic' ? number.formatNational() : text.replace(/\.0$/, '');
  const read = from && parsed(plain, from);
  const isOther = read?.isValid() === true && read.number !== number.number;
  let why: Undecidable | undefined;
  if (isOther && (isNational || (name === 'own prefix' && from === number.country)))
    why = read.country === number.country ? 'zero' : 'elsewhere';
  if (isOther && name === 'range' && read.country !== number.country) why = 'elsewhere';
  if (isOther && isWhole && isOwnForm(plain, from)) why = 'ownForm';
  return why;
}

const countries = getCountries().filter(country => getExampleNumber(country, examples) !== undefined);

/** Number of lists: every country in every spelling with every hint, then addresses. */
const phoneLists = countries.length * spellingNames.length * hints.length;
export const listCount = phoneLists + addressKinds.length;

export function listAt(index: number): KnownList | undefined {
  const address = addressKinds[index - phoneLists];
  return address ?? phoneList(index);
}

function phoneList(index: number): KnownList | undefined {
  const random = randomOf(index);
  const country = countries[index % countries.length] as CountryCode;
  const rest = Math.floor(index / countries.length);
  const spelling = spellingNames[rest % spellingNames.length] as string;
  const hint = hints[Math.floor(rest / spellingNames.length)] as (typeof hints)[number];
  const chance = random();
  const length = lengths[often.findIndex(share => chance < share)] ?? 1;
  const [share, mixture] = [pick(random, shares), pick(random, mixtures)];
  const isUnnamed = hint === 'no country' && random() < 0.5;
  const wrong = pick(random, countries);
  const others =
    mixture === 'four countries' ? [country, ...[1, 2, 3].map(() => pick(random, countries))] : [country];
  const rows = Array.from({length}, (_, n) => {
    const own = others[n % others.length] as CountryCode;
    const number = pick(random, numbersOf(own));
    const named = {'country column': own, 'default country': country, 'wrong country': wrong};
    const from = hint === 'no country' ? undefined : named[hint];
    const name = mixture === 'with plus' && random() < 0.5 ? 'plus' : spelling;
    const text = number && spellings[name]?.(number, from);
    if (random() < share || number === undefined || text === undefined)
      return {cells: [pick(random, nothings), from ?? ''], meant: undefined, undecidable: undefined};
    // An ending behind a hyphen is a part of the number, where the plan of the country has such a number.
    const joined = name === 'range' ? parsed(text, own) : number;
    const meant = joined?.isValid() === true ? joined.number : undefined;
    return {cells: [text, from ?? ''], meant, undecidable: undecidableAs(name, text, number, from)};
  });
  const isNamed = hint === 'country column' || hint === 'wrong country';
  return {
    name: `${country}, ${spelling}, ${hint}, ${length} rows, ${mixture}, ${share * 100}% without`,
    kind: 'phone',
    country,
    header: [isUnnamed ? 'x' : 'phone', ...(isNamed ? ['country'] : [])],
    rows: rows.map(({cells}) => (isNamed ? cells : cells.slice(0, 1))),
    meant: rows.map(({meant}) => meant),
    undecidable: rows.map(({undecidable}) => undecidable),
    ...(hint === 'default country' ? {defaultCountry: country} : {}),
  };
}

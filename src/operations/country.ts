import {createRequire} from 'node:module';
import type {CountryCode} from 'libphonenumber-js/max';
import {isPlaceholder, readCell} from './cell.ts';
import {memoize} from './memoize.ts';
import words from './words.json' with {type: 'json'};

const require = createRequire(import.meta.url);

/** The library of phone numbers. With its metadata, loading takes as long as Node's own start: the first number does it. */
export const phoneLibrary = (): typeof import('libphonenumber-js/max') => require('libphonenumber-js/max');

/** Country (or calling code) by which a phone number in national form is read. */
export type PhoneCountry = {readonly defaultCountry: CountryCode} | {readonly defaultCallingCode: string};

/** True for `+`, which says in place of a country that numbers are international, with or without their plus. */
export const isInternationalCountry = (country: string | undefined): boolean => country?.trim() === '+';

/**
 * The country of a text: a code (`DE`, `DEU`, `UK`), a name in some eighty languages (i18n-iso-countries and CLDR),
 * or a calling code (`+49`); else undefined. Bare digits are not a country: 250 is France in ISO 3166, and Rwanda's
 * calling code.
 */
export function parsePhoneCountry(text: string | undefined): PhoneCountry | undefined {
  const plain = text?.trim() ?? '';
  if (plain === '') return undefined;
  const asIs = plain.toUpperCase();
  // Comes first, since most cells are country codes. And `NA` is Namibia here, but `readCell` would take it
  // for a placeholder.
  if (phoneLibrary().isSupportedCountry(asIs)) return {defaultCountry: asIs};
  const cell = readCell(plain);
  const given = withoutFlags(cell.state === 'text' ? cell.text : plain);
  if (given === '') return undefined;
  const dialled = CALLING_CODE.exec(given)?.[1]?.replace(/\D/g, '');
  if (dialled !== undefined) return byCallingCode(dialled);
  const code = codeOf(given) ?? codeInParts(given);
  return code === undefined ? undefined : {defaultCountry: code};
}

const CALLING_CODE = /^\(?(?:\+|00)\s*(\d[\d\s-]*)\)?$/;

/** A calling code, perhaps with an area code of North America behind it: `1`, `1684`. */
function byCallingCode(digits: string): PhoneCountry | undefined {
  const code = /^1\d{3}$/.test(digits) ? '1' : digits;
  return callingCodes().has(code) ? {defaultCallingCode: code} : undefined;
}

/** A language and a country, as programs write it: `en-GB`, `de_DE.UTF-8`, `zh-Hant-TW`. */
const LOCALE = /^[a-z]{2,3}[-_](?:[A-Z][a-z]{3}[-_])?([A-Z]{2})(?:\.[\w-]+)?$/;

function codeOf(given: string): CountryCode | undefined {
  const whole = given
    .replace(/\s*\(the\)$/i, '')
    .replace(/\brep\./gi, 'Republic of')
    .replace(/\bdem\./gi, 'Democratic');
  const names = [whole, ...turnedRound(whole)];
  const found = names.map(name => countryNames().get(keyOf(name))).find(code => code !== undefined);
  const code = LOCALE.exec(given)?.[1] ?? given.trim().toUpperCase();
  const known = phoneLibrary().isSupportedCountry(code) ? code : (found ?? countryNames().get(coreOf(names)));
  return known !== undefined && phoneLibrary().isSupportedCountry(known) ? known : undefined;
}

/** The forms of `Korea (the Republic of)` and `Korea, South` as they are spoken: `Republic of Korea`, `South Korea`. */
function turnedRound(given: string): string[] {
  const [, name, form] = /^([^(,]+?)\s*(?:,\s*|\(\s*)(?:the\s+)?([^(),]+?)\s*\)?$/i.exec(given) ?? [];
  return name === undefined || form === undefined ? [] : [`${form} ${name}`];
}

/** Words for the form of a state, in front of its name: `Federal Republic of`, `Bundesrepublik`, `République du`. */
const FORM = new RegExp(`^(?:(?:${words.stateForms.join('|')})\\b[\\s'’]+(?=\\p{L}))+`, 'iu');
/** Names that two states have, so that only their form tells them apart: each in full is an alias. */
const SHARED = new Set(['china', 'korea', 'congo', 'coree', 'corea', 'kongo']);

/** The key of a name without the words for its state's form; empty if two states have such a name. */
function coreOf(names: readonly string[]): string {
  const cores = names.map(name => keyOf(name.normalize('NFC').trim().replace(FORM, '')));
  return cores.find(core => !SHARED.has(core) && countryNames().has(core)) ?? '';
}

/**
 * The country of `DE - Germany`, `Germany (+49)` or `USA - California`, if all its names agree. Behind a dash a part
 * may also be a region, before a comma a city.
 */
function codeInParts(given: string): CountryCode | undefined {
  const withCode = given.replace(/\(?(?:\+|\b00)\d{1,4}\)?/g, found => ` | ${found} | `);
  const parts = withCode.split(/\s[-–—:|]\s|[()[\],/|]/).map(part => part.trim());
  const told = parts
    .filter(part => part !== '' && !/^the$/i.test(part))
    .map(part => {
      const dialled = CALLING_CODE.exec(part)?.[1];
      return {text: part, dialled, code: dialled === undefined ? codeOf(part) : undefined};
    });
  const codes = told.flatMap(part => part.code ?? []);
  // Georgia is a state of the US, too.
  const code = codes.includes('US') ? 'US' : codes[0];
  const isOther = (part: (typeof told)[number]) =>
    part.code !== undefined && part.code !== code && !(code === 'US' && STATES.has(keyOf(part.text)));
  if (code === undefined || told.length < 2 || told.some(isOther)) return undefined;
  const named = /^(.+?)\s[-–—]\s/.exec(given)?.[1] ?? /,\s*([^,()]+)$/.exec(given)?.[1];
  const callingCode = phoneLibrary().getCountryCallingCode(code);
  const unknown = told.filter(part => part.dialled === undefined && part.code === undefined);
  const areOwn = told.every(part => part.dialled === undefined || part.dialled.startsWith(callingCode));
  return areOwn && (unknown.length === 0 || (named !== undefined && codeOf(named) === code))
    ? code
    : undefined;
}

/** The country of a cell; `none` if empty or a placeholder (`NA` is Namibia here), `unknown` for other texts. */
export function readCountryCell(cell: string | undefined): PhoneCountry | 'none' | 'unknown' {
  const said = cell?.trim() ?? '';
  if (said === '') return 'none';
  return parsePhoneCountry(said) ?? (isPlaceholder(said) ? 'none' : 'unknown');
}

/** A row's country: its cell, or the default country for a cell that says none. */
export function rowCountry(cell: string | undefined, fallback: string | undefined): string | undefined {
  return readCountryCell(cell) === 'none' ? fallback : cell?.trim();
}

/** States of the US, and the District of Columbia. Half of the codes, and the name Georgia, mean countries too. */
const STATES = new Set(words.states.flatMap(names => names.split(' ')));
const NEARLY_ALL = 0.9;

/** True if nearly all of these texts are states of the US, and at least one of the states is not a country too. */
export function areMostlyUsStates(texts: readonly string[]): boolean {
  const states = texts.filter(text => STATES.has(keyOf(text)));
  const isMost = states.length > 0 && states.length >= NEARLY_ALL * texts.length;
  return isMost && states.some(text => parsePhoneCountry(text) === undefined);
}

const callingCodes = memoize(
  () =>
    new Set<string>(
      phoneLibrary()
        .getCountries()
        .map(code => phoneLibrary().getCountryCallingCode(code)),
    ),
);

const withoutUmlaut = (letter: string): string =>
  ({ä: 'ae', ö: 'oe', ü: 'ue', ß: 'ss'})[letter.toLowerCase()] ?? letter;

const CLDR_LANGUAGES = ['en', 'de', 'fr', 'es', 'pt', 'it', 'nl', 'pl', 'tr', 'sv', 'cs', 'ru'] as const;

/**
 * Names that both packages lack: short forms, codes of sports, and parts of the United Kingdom. Of the signs on cars
 * only Germany's: other single letters abbreviate several countries.
 */
const ALIASES: Readonly<Record<string, string>> = words.countryAliases;

const FLAG = /[\u{1F1E6}-\u{1F1FF}]{2}/gu;
const FLAG_LETTERS = 0x1f1e6 - 0x41;

/** `🇩🇪 Germany` → `DE - Germany`: a flag consists of the two letters of a country's code. */
function withoutFlags(text: string): string {
  const letters = text.replace(
    FLAG,
    flag =>
      ` - ${[...flag].map(letter => String.fromCharCode((letter.codePointAt(0) ?? 0) - FLAG_LETTERS)).join('')} - `,
  );
  return letters === text ? text : letters.replace(/^[\s-]+|[\s-]+$/g, '');
}

/** About 14,000 names, loaded in 0.1 s at the first country that is not a two-letter code. */
const countryNames = memoize((): ReadonlyMap<string, string> => {
  const names = new Map<string, string | undefined>();
  // A name that two countries share, such as Congo, gets `undefined`, so it means neither.
  const add = (name: string, code: string) => {
    const key = keyOf(name);
    names.set(key, names.has(key) && names.get(key) !== code ? undefined : code);
  };
  const table = (file: string): unknown => require(`i18n-iso-countries/${file}`);
  const languages = table('supportedLocales.json') as readonly string[];
  for (const language of languages) {
    const {countries} = table(`langs/${language}.json`) as {countries: Record<string, string | string[]>};
    for (const [code, spellings] of Object.entries(countries))
      for (const name of [spellings].flat()) add(name, code);
  }
  for (const language of CLDR_LANGUAGES) {
    const short = new Intl.DisplayNames(language, {type: 'region', fallback: 'none'});
    for (const code of phoneLibrary().getCountries()) {
      const name = short.of(code);
      for (const spelling of name === undefined ? [] : [name, name.replace(/[äöüß]/gi, withoutUmlaut)])
        if (!names.has(keyOf(spelling))) add(spelling, code);
    }
  }
  for (const [name, code] of Object.entries(ALIASES)) if (!names.has(name)) names.set(name, code);
  // Codes take precedence over names in any language.
  const codes = require('i18n-iso-countries/codes.json') as readonly [string, string][];
  for (const [code, alpha3] of codes) names.set(keyOf(alpha3), code);
  return new Map([...names].flatMap(([name, code]) => (code === undefined ? [] : [[name, code] as const])));
});

/** English names of all countries, from which a message suggests one that is similar to an unknown name. */
export function listCountryNames(): string[] {
  const names = new Intl.DisplayNames('en', {type: 'region', fallback: 'none'});
  return phoneLibrary()
    .getCountries()
    .flatMap(code => names.of(code) ?? []);
}

/** A name's letters and digits, without `the`, `of` and `and`: `Côte d’Ivoire` → `cotedivoire`. */
function keyOf(name: string): string {
  const plain = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\bst\b\.?\s/g, 'saint ');
  return plain.replace(/(?:^the|\s(?:the|of|and))(?=\s)/g, '').replace(/[^\p{L}\p{N}]/gu, '');
}

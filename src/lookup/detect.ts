import type {Row} from '../input/row.ts';
import type {CellRules} from '../operations/cell.ts';
import {type Intelligence, intelligenceNames, operations} from '../operations/table.ts';
import {type Column, columnsOf, type Headers} from './columns/column.ts';
import {type CountryChoices, chooseCountries, countryFor} from './columns/country-column.ts';
import {guessCountries} from './columns/country-guesses.ts';
import {type Aside, type Fault, type Guess, MOSTLY} from './columns/guess.ts';
import {namesAnother, namesFax, names as namesWord} from './columns/header.ts';
import {chooseColumns} from './columns/own-columns.ts';
import {fieldPaths} from './field-paths.ts';

/** Share of a column's values that must fit a kind (such as e-mail) to decide its kind without the header. */
const CONTENT_SPEAKS = 0.9;
/** Number of values that a column needs for a decision without its header. */
const FEW_VALUES = 5;

export interface ColumnHints extends Headers {
  /** Columns that settings name: phone columns (`numbers`), and country columns (`countries`). */
  readonly numbers?: readonly string[] | undefined;
  readonly countries?: readonly string[] | undefined;
  /** The default country, for rows without a country. */
  readonly fallback?: string | undefined;
  readonly rules?: CellRules | undefined;
}

export interface Detected {
  readonly guesses: readonly Guess[];
  readonly choices: CountryChoices;
}

/** Guesses from headers and first rows which kind of value each column has, and how sure that is. */
export function detectColumns(
  given: readonly string[],
  sample: readonly Row[],
  known: ColumnHints = {},
): Detected {
  const found = sample.some(row => row.type === 'ndjson') ? fieldPaths(given, sample) : given;
  const {numbers = []} = known;
  const names = [...new Set([...found, ...numbers, ...(known.countries ?? [])])];
  const columns = columnsOf(names, given, known).map((column, at, all) =>
    isLabelledAnothers(column, all[at - 1], sample) ? {...column, isAnothers: true} : column,
  );
  const choices = chooseCountries(columns, phonesOf(columns, numbers), sample, known.countries);
  const chosen = choices.of.size > 0 ? [...choices.of] : [[undefined, choices.others] as const];
  const countries = known.countries === undefined ? guessCountries(chosen) : [];
  const detected = intelligenceNames.filter(name => operations[name].isDetected);
  const guesses = columns.flatMap(column => {
    const choice = countryFor(choices, column.name);
    const countryCell = choice !== undefined && 'found' in choice ? choice.found.column.cell : undefined;
    const cells = sample.map(row => [column.cell(row) ?? '', countryCell?.(row) || known.fallback] as const);
    const some = detected.flatMap(name => guessColumn(name, column, cells, known) ?? []);
    return best(some).map(guess => ({...guess, fault: faultOf(guess, cells, sample, known)}));
  });
  const isOfFaint = (guess: Guess) =>
    isFaint(guess) && guesses.some(other => other.operation === guess.operation && !isFaint(other));
  const others = chooseColumns(
    guesses.filter(guess => !isOfFaint(guess)),
    known.headless === true,
  );
  const isPhone = others.some(({operation}) => operation === 'phone');
  return {guesses: isPhone ? [...countries, ...others] : others, choices};
}

/**
 * True for `Phone 2 - Value` if the column before it, `Phone 2 - Label`, has a cell that names someone other than
 * the row's person, such as `Spouse`.
 */
function isLabelledAnothers({heading}: Column, label: Column | undefined, sample: readonly Row[]): boolean {
  const stemOf = (text: string) => / - /.test(text) && text.slice(0, text.lastIndexOf(' - '));
  if (label === undefined || stemOf(heading) === false || stemOf(heading) !== stemOf(label.heading))
    return false;
  return sample.some(row => namesAnother(label.cell(row) ?? ''));
}

/**
 * The phone columns that need a country column: those that settings name, and those whose headers say phone.
 * A header with an unknown word (`Accountant Phone`) counts only if no phone header has known words alone
 * (`Billing Phone 2`).
 */
function phonesOf(columns: readonly Column[], numbers: readonly string[]): Column[] {
  const isMeant = ({name}: Column) => numbers.includes(name);
  const named = columns.filter(({says, isAnothers}) => {
    const strength = says.get('phone')?.strength;
    return strength !== undefined && strength !== 'mentioned' && !isAnothers;
  });
  const plain = named.filter(({says}) => says.get('phone')?.isPlain === true);
  const own = plain.length > 0 ? plain : named;
  return columns.filter(column => isMeant(column) || own.includes(column));
}

/** The most frequent fault of an unsure column's cells, which tells the user why. Undefined for a sure column. */
function faultOf(
  {operation, confidence}: Guess,
  cells: ColumnCells,
  sample: readonly Row[],
  {rules}: ColumnHints,
): Fault | undefined {
  if (confidence === 'sure' || operation === 'country') return undefined;
  const codes = cells.map(([text, country]) => {
    const judged = operations[operation].canonical(text, country, rules);
    return judged.state === 'invalid' ? judged.code : undefined;
  });
  const count = (code: string | undefined) => codes.filter(other => other === code).length;
  const [code] = [...new Set(codes)].filter(found => found !== undefined).sort((a, b) => count(b) - count(a));
  return code === undefined ? undefined : {code, row: sample[codes.indexOf(code)]?.record};
}

/**
 * The surest of a column's guesses. Among equally sure ones, prefers one without a reason to leave the column out
 * (`aside`), then one that the header supports. Empty without guesses.
 */
function best(some: readonly Guess[]): Guess[] {
  return [...some]
    .sort(
      (a, b) =>
        Number(b.confidence === 'sure') - Number(a.confidence === 'sure') ||
        Number(a.aside !== undefined) - Number(b.aside !== undefined) ||
        Number(a.header === 'silent') - Number(b.header === 'silent'),
    )
    .slice(0, 1);
}

/**
 * True for an unsure guess with little support: the header does not name its kind, and too few values fit ({@link
 * CONTENT_SPEAKS}). Such a guess is dropped if another column has a better one for the same operation.
 */
function isFaint({header, confidence, ofKind}: Guess): boolean {
  return header === 'silent' && confidence === 'unsure' && ofKind < CONTENT_SPEAKS;
}

function guessColumn(
  operation: Intelligence,
  column: Column,
  cells: ColumnCells,
  {rules, headless = false}: ColumnHints,
): Guess | undefined {
  const tally = tallyOf(operation, cells, rules);
  const {values, valid, national, listed, unclear, beyond} = tally;
  const of = (count: number) => (values === 0 ? 0 : count / values);
  const says = column.says.get(operation);
  const base = {
    operation,
    column: column.name,
    share: values === 0 ? undefined : of(valid),
    national: of(national),
    listed: of(listed),
    ofKind: of(valid + national + listed + unclear + beyond),
    values,
    distinct: tally.distinct.size,
  };
  const isNamed =
    says?.strength === 'named' || (says?.strength === 'hinted' && isConfirmed(operation, cells, base.ofKind));
  const judged = isNamed ? byName(tally) : byContent(operation, column, cells, tally, headless);
  if (judged === undefined) return undefined;
  // If a header only mentions a kind, as `phone order no` does, the values decide. Digits alone decide nothing.
  const isMentioned =
    says?.strength === 'mentioned' &&
    (judged === 'sure' ||
      (judged === 'likely' && of(valid) >= CONTENT_SPEAKS && !mayBeOtherDigits(column, cells)));
  const confidence = isMentioned ? 'sure' : judged;
  const aside =
    asideOf(operation, column, tally) ??
    (confidence === 'likely' ? 'values' : confidence === 'alike' ? 'alike' : undefined);
  const guess = {
    ...base,
    header: !isNamed && !isMentioned ? 'silent' : says.isPlain ? 'plain' : 'strange',
    confidence: confidence === 'sure' && aside === undefined ? 'sure' : 'unsure',
    aside,
  } as const;
  // A column with a reason to leave it out (`aside`) is reported only if its values mostly fit the kind. If
  // the reason is `values` or `alike`, it is reported in any case.
  return aside === undefined || aside === 'values' || aside === 'alike' || base.ofKind >= MOSTLY
    ? guess
    : undefined;
}

function mayBeOtherDigits({heading}: Column, cells: ColumnCells): boolean {
  const isBare = isShare(MOSTLY, cells, text => /^\d+$/.test(text.trim()));
  return isBare || namesWord(heading, 'otherDigits') || namesWord(heading, 'cards');
}

/**
 * True if most values are of the kind that the header hints at. Almost any digits may be a phone number, so
 * most phone numbers must also be likely (`isLikely`).
 */
function isConfirmed(operation: Intelligence, cells: ColumnCells, ofKind: number): boolean {
  const {isLikely, isTelling} = operations[operation];
  if (isLikely === undefined) return ofKind >= MOSTLY;
  const fits = (text: string, country: string | undefined) =>
    isTelling?.(text) === true || isLikely(text, country);
  return isShare(MOSTLY, cells, fits);
}

/** Header of copied mail recipients. For e-mail columns only: beside phones, `CC` means country code. */
const COPIED = /^(?:mail\W?)?cc$/i;

/** True if at least `share` of the filled cells fit. Stops early once too many do not. */
function isShare(
  share: number,
  cells: ColumnCells,
  fits: (text: string, country: string | undefined) => boolean,
): boolean {
  const filled = cells.filter(([text]) => text.trim() !== '');
  let misfits = 0;
  return (
    filled.length > 0 &&
    filled.every(([text, country]) => {
      if (!fits(text, country)) misfits += 1;
      return misfits <= (1 - share) * filled.length;
    })
  );
}

function asideOf(
  operation: Intelligence,
  {heading, isAnothers, isInList, says}: Column,
  {values, beyond, distinct}: ColumnTally,
): Aside | undefined {
  if (values > 0 && beyond === values) return 'unknowable';
  if (isAnothers) return namesFax(heading) ? 'fax' : 'another';
  if (operation === 'email' && COPIED.test(heading)) return 'another';
  const {areMasked} = operations[operation];
  if (namesWord(heading, 'masked') || (values >= FEW_VALUES && areMasked?.([...distinct]) === true))
    return 'masked';
  if (operation === 'ip' && says.get('ip')?.isPlain !== true && namesWord(heading, 'versions'))
    return 'alike';
  return isInList ? 'list' : undefined;
}

function byName({values, valid, unclear, beyond}: ColumnTally): Guess['confidence'] {
  return values === 0 || (valid + unclear + beyond) / values >= MOSTLY ? 'sure' : 'unsure';
}

/**
 * Judges a column by its values alone. `likely`: the values fit, but no sign such as `+` makes that sure. `alike`:
 * the values may be something else that looks the same, such as versions.
 */
function byContent(
  operation: Intelligence,
  {heading}: Column,
  cells: ColumnCells,
  {values, valid, telling, beyond}: ColumnTally,
  headless: boolean,
): Guess['confidence'] | 'likely' | 'alike' | undefined {
  const {isTelling, isLikely} = operations[operation];
  const isMost = values >= FEW_VALUES && telling / values >= MOSTLY;
  // In a list without headers, fewer than FEW_VALUES values suffice if all of them show their kind.
  const isEnough = values >= FEW_VALUES || (headless && telling === values);
  if (valid > 0 && (telling + beyond) / values >= CONTENT_SPEAKS && isEnough)
    return operations[operation].mayBeOthers?.(cells.map(([text]) => text)) === true ? 'alike' : 'sure';
  if (isLikely !== undefined && values >= FEW_VALUES) {
    const isOther = namesWord(heading, 'otherDigits');
    const isCard = namesWord(heading, 'cards');
    const fits = (text: string, country: string | undefined) =>
      !(isOther && /^\d+$/.test(text.trim())) &&
      !(isCard && isTelling?.(text) !== true) &&
      isLikely(text, country);
    if (isShare(CONTENT_SPEAKS, cells, fits)) return 'likely';
  }
  if (valid === 0) return undefined;
  if ((valid + beyond) / values < CONTENT_SPEAKS) return isMost ? 'unsure' : undefined;
  return isTelling === undefined ? 'unsure' : undefined;
}

type ColumnCells = readonly (readonly [text: string, country: string | undefined])[];
type ColumnTally = ReturnType<typeof tallyOf>;

/** Codes of addresses that the service knows nothing about. */
const BEYOND: ReadonlySet<string> = new Set(['ipv6_unsupported', 'ip_private']);

/** Codes of cells that can be judged only with their column's habits: how it writes its values. */
const BY_HABIT: ReadonlySet<string> = new Set(['calling_code_unclear', 'leading_zero_lost']);

/** Counts a column's valid values, and other cells by their fault. `isKnown`: `rules` has the column's habits. */
function tallyOf(operation: Intelligence, cells: ColumnCells, rules: CellRules | undefined, isKnown = false) {
  const {canonical, habits, isTelling} = operations[operation];
  const distinct = new Set<string>();
  const tally = {values: 0, valid: 0, telling: 0, national: 0, listed: 0, unclear: 0, beyond: 0, distinct};
  for (const [text, country] of cells) {
    const judged = canonical(text, country, rules);
    if (judged.state === 'empty') continue;
    tally.values += 1;
    distinct.add(judged.state === 'value' ? judged.value : text.trim());
    if (judged.state === 'value') {
      tally.valid += 1;
      if (isTelling?.(text) !== false) tally.telling += 1;
      continue;
    }
    // It is slow to find the column's habits: how it writes its values. So this is done only if a cell can't
    // be judged without them.
    if (judged.state === 'invalid' && BY_HABIT.has(judged.code) && !isKnown)
      return tallyOf(operation, cells, {...rules, ...habits?.(cells)}, true);
    if (judged.state === 'broken') continue;
    if (judged.code === 'calling_code_unclear') tally.unclear += 1;
    if (judged.code === 'country_unknown') tally.national += 1;
    if (judged.code === 'ip_list') tally.listed += 1;
    if (BEYOND.has(judged.code)) tally.beyond += 1;
  }
  return tally;
}

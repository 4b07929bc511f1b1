import {type TopKind, topKinds} from '../../operations/operation.ts';
import {operationTitle} from '../../operations/table.ts';
import {codeMeaning} from '../code-meanings.ts';
import {formatCount, formatPercent, listRows, pluralize} from '../format.ts';
import {type ReportTable, rankingOf, type Section, type Tone, tableOf, withRows} from '../model.ts';
import {lookupTotal} from '../run-record.ts';
import type {LookupCounts, Summary} from '../summary.ts';

const outcomes: readonly (readonly [keyof LookupCounts, Tone])[] = [
  ['answered', 'good'],
  ['skipped', 'known'],
  ['empty', 'quiet'],
  ['invalid', 'repeat'],
  ['failed', 'bad'],
  ['unknown', 'warn'],
];

export function rowsSection(summary: Summary): Section | undefined {
  const {rows, lookups, repairs, left_out} = summary;
  if (rows.read === 0) return undefined;
  const rejected = rows.rejected === 0 ? '' : `, ${formatCount(rows.rejected)} could not be read`;
  const trouble =
    rows.with_errors === 0
      ? 'No lookup failed.'
      : `In ${pluralize(rows.with_errors, 'row')} a lookup failed or was not made.`;
  const invalid = lookupTotal(summary, 'invalid');
  const judged =
    invalid === 0 ? '' : ` ${pluralize(invalid, 'value')} can't be looked up: see the codes below.`;
  return {
    title: 'Rows and outcomes',
    note: `${pluralize(rows.read, 'row')} read, ${formatCount(rows.written)} written${rejected}. ${trouble}${judged}`,
    blocks: [
      {
        caption: 'What became of each value',
        head: ['Values', ...outcomes.map(([name]) => name)],
        rows: Object.entries(lookups).map(([name, facts]) => [
          operationTitle(name),
          ...outcomes.map(([outcome]) => facts[outcome]),
        ]),
        chart: {kind: 'stacks', tones: outcomes.map(([, tone]) => tone)},
      },
      ...withRows([
        codesTable('Repaired before the lookup', repairs),
        tableOf(
          'Columns that were not looked up',
          ['Column', 'its values', 'to look it up'],
          left_out.map(({operation, column, share, flag}) => [
            column,
            `${formatPercent(share, 1)} may be of the kind ${operation}`,
            flag,
          ]),
          {texts: [0, 1, 2]},
        ),
      ]),
    ],
  };
}

const MOST_CODES = 20;

function codesTable(caption: string, coded: Summary['errors']): ReportTable {
  const rows = coded.slice(0, MOST_CODES).map(({code, count, rows: first, service}) => {
    const meaning = codeMeaning(code, service);
    return [code, count, listRows(first, count), meaning] as const;
  });
  return tableOf(caption, ['Code', 'count', 'first rows', 'meaning'], rows, {texts: [2, 3]});
}

export function errorsSection({errors, calls}: Summary): Section {
  const refused = Object.entries(calls.by_status).filter(([status]) => !status.startsWith('2'));
  const left = errors.length - MOST_CODES;
  const more = left > 0 ? ` ${pluralize(left, 'rarer code')} are in the summary file.` : '';
  return {
    title: 'Where something was wrong',
    note: `Rows are named by number, never by value.${more}`,
    blocks: withRows([
      codesTable('Codes, most often first', errors),
      tableOf(
        'Calls without a usable answer, retried ones included',
        ['HTTP status or network code', 'calls'],
        [...refused, ...Object.entries(calls.by_error)].sort((a, b) => b[1] - a[1]),
      ),
      tableOf(
        'Answers unlike those of earlier runs, or of no use',
        ['What is odd'],
        (calls.oddities ?? []).map(sentence => [sentence]),
      ),
    ]),
  };
}

/** By field: the share of answers with the field, and the share of those answers in which the field is true. */
export function fieldsSection({fields, lookups}: Summary): Section {
  const answered = Object.entries(fields).filter(([name]) => (lookups[name]?.answered ?? 0) > 0);
  const rows = answered.flatMap(([operation, shares]) =>
    Object.entries(shares).map(([name, {present, true: yes}]) => {
      const share = yes === undefined || present === 0 ? '' : formatPercent(yes, 1);
      return [`${operation}.${name}`, formatPercent(present, 1), share] as const;
    }),
  );
  return {
    title: 'Answer fields',
    note: 'How many of the answers had each field, and how many of those said yes.',
    blocks: withRows([tableOf('Shares of the answers', ['Field', 'present', 'yes'], rows, {form: 'folded'})]),
  };
}

const captions: Readonly<Record<TopKind, readonly [caption: string, what: string]>> = {
  countries: ['Countries of IP addresses', 'Country'],
  networks: ['Networks', 'Network'],
  domains: ['E-mail domains with five rows or more', 'Domain'],
  phone_countries: ['Countries of phone numbers', 'Country'],
};

/** Counts of the values' countries, networks and domains, which identify no person. */
export function topCountsSection({top}: Summary): Section {
  const rankings = topKinds.map(kind => {
    const {names = [], counted = 0, missed_at_most: missed = 0} = top[kind] ?? {};
    const [caption, what] = captions[kind];
    return rankingOf(
      missed === 0 ? caption : `${caption} (counts are at least these)`,
      what,
      names.map(({name, count: times}) => [what === 'Country' ? countryName(name) : name, times]),
      counted,
    );
  });
  const note = 'The ten most common of each, by rows.';
  return {title: 'Where they come from', note, blocks: withRows(rankings)};
}

/** `US` → `United States (US)`. Other texts stay as they are. */
function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  const name = new Intl.DisplayNames('en', {type: 'region', fallback: 'none'}).of(code);
  return name === undefined ? code : `${name} (${code})`;
}

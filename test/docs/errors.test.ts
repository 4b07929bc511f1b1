import {expect, test} from 'vitest';
import texts from '../../src/codes.json' with {type: 'json'};
import {unaskedCodes} from '../../src/ledger/lookup-outcome.ts';
import {INTERRUPTED_CODE} from '../../src/ledger/run/ledger-entry.ts';
import {operationNames, operations} from '../../src/operations/table.ts';
import {codeAdvice, codeMeaning} from '../../src/report/code-meanings.ts';
import {errorCodes} from '../codes/error-codes.ts';
import {expectPage, textOf} from './blocks.ts';

const PAGE = 'docs/errors.md';
const MARK = '<!-- codes: what follows is made from src/codes.json -->\n';
const BEGIN = '<!-- errors: this list is made from src/codes.json -->\n';
const END = '<!-- end of errors -->\n';

/** Texts as sentences; those of the code begin in small letters. */
const sentencesOf = (...texts: readonly string[]) =>
  texts
    .filter(Boolean)
    .map(text => text.replace(/^[a-z]/, first => first.toUpperCase()).replace(/(?<![.?])$/, '.'))
    .join(' ');

const errorRows = errorCodes.map(
  ({code, exits, when, advice}) => `- \`${code}\` (${exits.join(', ')}): ${sentencesOf(when, advice)}\n`,
);
const errorList = `\n${errorRows.join('')}\n`;

/** The advice on most calls without an answer, which the section gives once. */
const USUAL = 'look up again with --force';

function section(title: string, about: string, codes: readonly string[]): string {
  const rows = codes.map(code => {
    const given = codeAdvice(code) ?? '';
    const advice = given === USUAL ? '' : given.replace(/(--[a-z-]+)/g, '`$1`');
    return `- \`${code}\`: ${sentencesOf(codeMeaning(code), advice)}`;
  });
  return `\n## ${title}\n\n${about}\n\n${rows.join('\n')}\n`;
}

const values = [...new Set(operationNames.flatMap(name => Object.keys(operations[name].codes)))];

const sections = [
  section(
    'Values that can’t be looked up',
    'Status `invalid`: nothing was sent, and it costs nothing. Without advice, fix the value.',
    values,
  ),
  section(
    'Rows that can’t be read',
    'In `OUT.rejects.ndjson`; [fix and rerun them](recipes.md#fix-and-rerun-rejected-rows).',
    Object.keys(texts.rows),
  ),
  section('Values that were not looked up', 'Status `skipped`.', Object.keys(texts.skipped)),
  section(
    'Calls without a usable answer',
    'Status `failed`, or `unknown` if the call may have been carried out. `http_404`, `http_503` and the like are HTTP statuses. Other codes are the system’s (`ehostunreach`) or the service’s own. Without other advice, look up again with `--force`.',
    Object.keys(texts.calls),
  ),
].join('');

test('docs/errors.md has every code of errors, values, rows and lookups (UPDATE=1 writes it)', () => {
  const [head = '', written = ''] = textOf(PAGE).split(MARK)[0]?.split(BEGIN) ?? [];
  const [, rest = ''] = written.split(END);
  expectPage(PAGE, `${head}${BEGIN}${errorList}${END}${rest}${MARK}${sections}`);
});

test('docs/formats.md has every repair, with an example', () => {
  const [, section = ''] = textOf('docs/formats.md').split(/^## /m).slice(0, 2);
  const codes = [...section.matchAll(/^- `(\w+)`: .+$/gm)].map(([, code]) => code);
  expect(codes).toEqual(Object.keys(texts.repairs));
});

test('a call that a kill interrupted has its sentence, as a row can say so', () => {
  expect(codeMeaning(`ip.${INTERRUPTED_CODE}`)).not.toBe('');
});

test('every code means something', () => {
  for (const code of [...values, ...unaskedCodes])
    expect(codeMeaning(`x.${code}`), code).toMatch(/^[A-Z-].*\.$/);
  expect([codeMeaning('email.its_own_word'), codeAdvice('constructor')]).toEqual(['', undefined]);
});

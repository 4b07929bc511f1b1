import {existsSync, writeFileSync} from 'node:fs';
import {basename} from 'node:path';
import {createInterface} from 'node:readline/promises';
import {stringify} from 'yaml';
import type {Row} from '../../input/row.ts';
import {openSource} from '../../input/source.ts';
import {OutputError, systemCode, UsageError} from '../../job/errors.ts';
import {canonicalPhone} from '../../lookup/canonical.ts';
import {detectColumns, type Guess} from '../../lookup/detect.ts';
import {cellReader} from '../../lookup/targets.ts';
import {isInteractive} from '../console.ts';

interface InitFlags {
  readonly output?: string;
  readonly force?: boolean;
}

/** What a person was asked, or what is taken where nobody can be. */
interface Answers {
  readonly columns: readonly Guess[];
  readonly defaultCountry: string | undefined;
  readonly endpoint: 'live' | 'embedded';
  readonly maxCredits: number | undefined;
}

type Ask = (question: string, otherwise: string) => Promise<string>;

/** `bulk-enrich init LIST`: looks at a list and writes a job file for it, asking only what it can't see. */
export async function initCommand(input: string, flags: InitFlags): Promise<number> {
  const name =
    basename(input)
      .replace(/\.(gz|zst)$/i, '')
      .replace(/\.[^.]+$/, '')
      .replace(/[^\w.-]/g, '-') || 'job';
  const output = flags.output ?? `${name}.yaml`;
  if (existsSync(output) && flags.force !== true) {
    throw new UsageError(
      'output_exists',
      `${output} exists. Replace it with --force, or name another file with -o.`,
    );
  }
  const source = await openSource({
    paths: [input],
    noHeader: false,
    encoding: 'auto',
    maxRecordBytes: 1_048_576,
  });
  const rows = source.sample.filter((record): record is Row => record.type !== 'reject');
  const {columns} = source.format;
  await source.close();
  const guesses = detectColumns(columns, rows);
  const answers = await withPrompt(ask => interview(guesses, columns, rows, ask));
  try {
    writeFileSync(output, jobFile(name, input, answers));
  } catch (error) {
    throw new OutputError('output_unwritable', `${output} can't be written (${systemCode(error)}).`, {
      cause: error,
    });
  }
  process.stdout.write(`${output} is written. What it would do:  bulk-enrich plan --job ${output}\n`);
  return 0;
}

/** Without a person every question is answered with its default. */
async function withPrompt<T>(work: (ask: Ask) => Promise<T>): Promise<T> {
  if (!isInteractive()) return work(async (_, otherwise) => otherwise);
  const prompt = createInterface({input: process.stdin, output: process.stderr});
  try {
    return await work(
      async (question, otherwise) =>
        (await prompt.question(`${question} [${otherwise}] `)).trim() || otherwise,
    );
  } finally {
    prompt.close();
  }
}

async function interview(
  guesses: readonly Guess[],
  columns: readonly string[],
  rows: readonly Row[],
  ask: Ask,
): Promise<Answers> {
  const chosen: Guess[] = [];
  for (const guess of guesses) {
    const share =
      guess.share === undefined ? 'no values yet' : `${Math.round(guess.share * 100)}% of its values fit`;
    if (guess.confidence === 'sure') {
      process.stderr.write(`Column "${guess.column}": ${guess.operation} (${share})\n`);
      chosen.push(guess);
    } else if (
      /^y/i.test(
        await ask(`Column "${guess.column}" may be ${guess.operation} (${share}). Look it up?`, 'no'),
      )
    ) {
      chosen.push(guess);
    }
  }
  if (!chosen.some(guess => guess.operation !== 'country')) {
    throw new UsageError(
      'no_columns',
      `No column looks like IPs, phone numbers or e-mail addresses (columns: ${columns.join(', ')}).`,
    );
  }
  const defaultCountry = needsCountry(chosen, columns, rows)
    ? (
        await ask(
          'Some phone numbers are in national form. Two-letter code of their country, or none:',
          'none',
        )
      ).toUpperCase()
    : 'NONE';
  const endpoint =
    (await ask(
      'Whom to ask: live (from BULK_ENRICH_BASE_URL and BULK_ENRICH_API_KEY) or embedded?',
      'embedded',
    )) === 'live'
      ? 'live'
      : 'embedded';
  const credits = Number(await ask('Most credits for one run, or 0 for no limit:', '0'));
  return {
    columns: chosen,
    defaultCountry: /^[A-Z]{2}$/.test(defaultCountry) ? defaultCountry : undefined,
    endpoint,
    maxCredits: Number.isInteger(credits) && credits > 0 ? credits : undefined,
  };
}

function needsCountry(chosen: readonly Guess[], columns: readonly string[], rows: readonly Row[]): boolean {
  if (chosen.some(guess => guess.operation === 'country')) return false;
  const cells = chosen
    .filter(guess => guess.operation === 'phone')
    .map(guess => cellReader(guess.column, columns));
  return cells.some(cell =>
    rows.some(row => {
      const read = canonicalPhone(cell(row) ?? '', undefined);
      return read.state === 'invalid' && read.code === 'country_unknown';
    }),
  );
}

function jobFile(
  name: string,
  input: string,
  {columns, defaultCountry, endpoint, maxCredits}: Answers,
): string {
  const of = (operation: Guess['operation']) => {
    const names = columns.filter(guess => guess.operation === operation).map(guess => guess.column);
    return names.length > 1 ? names : names[0];
  };
  const settings = {
    name,
    input,
    endpoint,
    ip: of('ip'),
    phone: of('phone'),
    email: of('email'),
    country: of('country'),
    default_country: defaultCountry,
    max_credits: maxCredits,
  };
  return `# A job of bulk-enrich.  Look: bulk-enrich plan --job FILE   Go: bulk-enrich run --job FILE
# All settings: bulk-enrich run --help (here with _ in place of -).
${stringify(settings)}`;
}

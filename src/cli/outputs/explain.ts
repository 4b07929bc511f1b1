import {existsSync, readFileSync} from 'node:fs';
import {UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {openSource} from '../../input/source.ts';
import {withoutCompression} from '../../job/name-endings.ts';
import type {Summary} from '../../report/summary.ts';
import {defaultRules} from '../../score/default-rules.ts';
import {many, shellWord} from '../terminal/lines.ts';
import {print} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';

type RowRisk = {
  readonly score: string;
  readonly level: string;
  readonly points: Readonly<Record<string, number>>;
  readonly missing: readonly string[];
};

interface ExplainFlags {
  readonly row?: string;
  readonly level?: string;
}

/** `bulk-enrich explain OUT`: what a row's score is made of, or the rows of a level, from the output and its summary alone. */
export async function explainCommand(output: string, {row, level}: ExplainFlags): Promise<number> {
  if ((row === undefined) === (level === undefined))
    throw new UsageError('settings', 'explain needs --row N, or --level with low, medium, high or unknown.');
  if (row !== undefined) await explainRow(output, row);
  else if (level !== undefined) await listLevel(output, level);
  return 0;
}

async function explainRow(output: string, given: string): Promise<void> {
  const wanted = Number(given);
  if (!Number.isInteger(wanted) || wanted < 1)
    throw new UsageError('row', `--row: expected the number of a row, 1 or more, not "${given}".`);
  const rejected = rejectedBeside(output);
  if (rejected.has(wanted))
    throw new UsageError('rejected_row', `Row ${wanted} could not be read: see ${beside(output, REJECTS)}.`);
  for await (const {row, number, columns} of rowsOf(output, rejected)) {
    if (number < wanted) continue;
    if (number > wanted) break;
    const risk = riskOf(row, columns);
    if (risk === undefined)
      throw new UsageError(
        'no_risk',
        `Row ${wanted} of ${output} has no points of a score: it was written with --score none, with --fields that leave out risk.points, or by an older version.`,
      );
    print('stdout', `${explanation(wanted, risk, rulesBeside(output))}\n`);
    return;
  }
  throw new UsageError('no_risk', `${output} has no row ${wanted}: it was rejected, or the list is shorter.`);
}

const NUMBER_WIDTH = 9;

/** Prints each row as it is read: a level may have most rows of a long list. */
async function listLevel(output: string, level: string): Promise<void> {
  let found = 0;
  for await (const {row, number, columns} of rowsOf(output, rejectedBeside(output))) {
    if (cellOf(row, columns, 'level') !== level) continue;
    if (found === 0) print('stdout', lineOf('row', 'score', 'reasons'));
    found += 1;
    const reasons = parsed(cellOf(row, columns, 'reasons'));
    const words = Array.isArray(reasons) ? reasons.join(', ') : '';
    print('stdout', lineOf(String(number), String(cellOf(row, columns, 'score') ?? ''), words));
  }
  const next =
    found === 0 ? '' : ` To see why one of them is: bulk-enrich explain ${shellWord(output)} --row N`;
  print('stdout', `${many(found, 'row')} of ${level} risk.${next}\n`);
}

function lineOf(row: string, score: string, reasons: string): string {
  return `${row.padStart(NUMBER_WIDTH)}  ${score.padStart('score'.length)}  ${reasons}`
    .trimEnd()
    .concat('\n');
}

function explanation(
  row: number,
  {score, level, points, missing}: RowRisk,
  rules: readonly WrittenRule[],
): string {
  const whens = (reason: string) => rules.filter(rule => rule.reason === reason).map(({when}) => when);
  const lines = Object.entries(points).map(([reason, add]) => [
    reason,
    `${add < 0 ? '' : '+'}${add}`,
    whens(reason).join(' or '),
  ]);
  const sum = Object.values(points).reduce((all, add) => all + add, 0);
  const kept = sum < 0 || sum > 100 ? ` (${sum}, kept between 0 and 100)` : '';
  return [
    score === ''
      ? `Row ${row}: no score, as too much is missing; what is known comes to ${sum}.`
      : `Row ${row}: ${score}${kept}, ${level}.`,
    lines.length === 0 ? 'No rule held.' : table(lines),
    ...(missing.length === 0 ? [] : [`Missing or of no use to a rule: ${missing.join(', ')}.`]),
  ].join('\n');
}

const REJECTS = '.rejects.ndjson';

interface NumberedRow {
  readonly row: Row;
  /** Rows that could not be read have a number too, and are not in the output. */
  readonly number: number;
  readonly columns: readonly string[];
}

/** The rows of an output by the numbers that the summary and the log have. */
async function* rowsOf(path: string, rejected: ReadonlySet<number>): AsyncGenerator<NumberedRow> {
  const source = await openSource({paths: [path], header: true, encoding: 'auto', maxRecordSize: 2 ** 28});
  try {
    let number = 0;
    for await (const {records} of source.batches())
      for (const row of records) {
        do number += 1;
        while (rejected.has(number));
        if (row.type !== 'reject') yield {row, number, columns: source.format.columns};
      }
  } finally {
    await source.close();
  }
}

function rejectedBeside(output: string): ReadonlySet<number> {
  const path = beside(output, REJECTS);
  if (!existsSync(path)) return new Set();
  const rejects = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return new Set(rejects.map(line => (JSON.parse(line) as {row: number}).row));
}

function riskOf(row: Row, columns: readonly string[]): RowRisk | undefined {
  const points = parsed(cellOf(row, columns, 'points'));
  if (typeof points !== 'object' || points === null) return undefined;
  return {
    score: String(cellOf(row, columns, 'score') ?? ''),
    level: String(cellOf(row, columns, 'level')),
    points: points as RowRisk['points'],
    missing: (parsed(cellOf(row, columns, 'missing')) ?? []) as RowRisk['missing'],
  };
}

function cellOf(row: Row, columns: readonly string[], name: string): unknown {
  return row.type === 'csv' ? row.fields[columns.indexOf(`risk_${name}`)] : nestedOf(row.value, name);
}

/** In CSV, what is not a text or a number is JSON. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? JSON.parse(value) : value;
}

function nestedOf(value: Readonly<Record<string, unknown>>, name: string): unknown {
  const {enrichment} = value as {enrichment?: {risk?: Record<string, unknown>}};
  return enrichment?.risk === undefined ? value[`risk_${name}`] : enrichment.risk[name];
}

interface WrittenRule {
  readonly reason: string;
  readonly when: string;
}

/** The rules as the summary beside the output has them, and the default ones. */
function rulesBeside(output: string): readonly WrittenRule[] {
  const path = beside(output, '.summary.json');
  if (!existsSync(path)) return defaultRules;
  const {risk} = JSON.parse(readFileSync(path, 'utf8')) as Pick<Summary, 'risk'>;
  const own: readonly WrittenRule[] = risk?.rules ?? [];
  const taken = new Set(own.map(({reason}) => reason));
  return [...own, ...defaultRules.filter(({reason}) => !taken.has(reason))];
}

function beside(output: string, ending: string): string {
  return withoutCompression(output).replace(/\.[^./]+$/, '') + ending;
}

import {existsSync, readFileSync} from 'node:fs';
import {UsageError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {openSource} from '../../input/source.ts';
import {withoutCompression} from '../../job/name-endings.ts';
import type {Summary} from '../../report/summary.ts';
import {defaultRules} from '../../score/default-rules.ts';
import {print} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';

type RowRisk = {
  readonly score: string;
  readonly level: string;
  readonly points: Readonly<Record<string, number>>;
  readonly missing: readonly string[];
};

/** `bulk-enrich explain OUT --row N`: what a row's score is made of, from the output and its summary alone. */
export async function explainCommand(output: string, {row: given}: {readonly row: string}): Promise<number> {
  const wanted = Number(given);
  if (!Number.isInteger(wanted) || wanted < 1)
    throw new UsageError('row', `--row: expected the number of a row, 1 or more, not "${given}".`);
  const row = await readRow(output, wanted - rejectedBefore(output, wanted));
  const risk = row === undefined ? undefined : riskOf(row.row, row.columns);
  if (risk === undefined)
    throw new UsageError(
      'no_risk',
      row === undefined
        ? `${output} has no row ${wanted}: it was rejected, or the list is shorter.`
        : `Row ${wanted} of ${output} has no points of a score: it was written with --score none, with --fields that leave out risk.points, or by an older version.`,
    );
  print('stdout', `${explanation(wanted, risk, rulesBeside(output))}\n`);
  return 0;
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

/** A row that could not be read has a number too, and is not in the output. */
function rejectedBefore(output: string, row: number): number {
  const path = beside(output, '.rejects.ndjson');
  if (!existsSync(path)) return 0;
  const rejects = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const rows = rejects.map(line => (JSON.parse(line) as {row: number}).row);
  if (rows.includes(row)) throw new UsageError('rejected_row', `Row ${row} could not be read: see ${path}.`);
  return rows.filter(other => other < row).length;
}

async function readRow(
  path: string,
  wanted: number,
): Promise<{row: Row; columns: readonly string[]} | undefined> {
  const settings = {paths: [path], header: true, encoding: 'auto', maxRecordSize: 2 ** 28} as const;
  const source = await openSource(settings);
  try {
    let seen = 0;
    for await (const {records} of source.batches()) {
      const record = records[wanted - 1 - seen];
      if (record !== undefined)
        return record.type === 'reject' ? undefined : {row: record, columns: source.format.columns};
      seen += records.length;
    }
    return undefined;
  } finally {
    await source.close();
  }
}

function riskOf(row: Row, columns: readonly string[]): RowRisk | undefined {
  const cell = (name: string): unknown =>
    row.type === 'csv' ? row.fields[columns.indexOf(`risk_${name}`)] : nestedOf(row.value, name);
  const parsed = (name: string): unknown => {
    const value = cell(name);
    return typeof value === 'string' && value !== '' ? JSON.parse(value) : value;
  };
  const points = parsed('points');
  if (typeof points !== 'object' || points === null) return undefined;
  return {
    score: String(cell('score') ?? ''),
    level: String(cell('level')),
    points: points as RowRisk['points'],
    missing: (parsed('missing') ?? []) as RowRisk['missing'],
  };
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

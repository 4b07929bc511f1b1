import {existsSync, readFileSync} from 'node:fs';
import {UsageError} from '../../errors.ts';
import type {FileRow} from '../../input/row.ts';
import {sidePathsOfOutput} from '../../job/file-names.ts';
import {type EnrichedFile, openEnrichedFile, readRunStart} from '../../output/earlier/enriched-file.ts';
import {createExplainer, type Explained, type Explainer} from '../../output/earlier/explain-row.ts';
import {pluralize} from '../../report/format.ts';
import {createRowFilter} from '../../score/conditions.ts';
import {makeRunFacts} from '../../score/run-facts.ts';
import {shellWord} from '../../sentence.ts';
import {breakLines, formatTable, terminalWidth} from '../terminal/lines.ts';
import {print, printJsonLine} from '../terminal/printable.ts';

interface ExplainFlags {
  readonly row?: string;
  readonly level?: string;
  readonly where?: string;
  readonly json?: boolean;
}

/** `bulk-enrich explain OUT`: shows the reasons of rows' scores, or the rows of a level, from a run's files alone. */
export async function explainCommand(output: string, flags: ExplainFlags): Promise<number> {
  const {row, level, where} = flags;
  if ([row, level, where].filter(given => given !== undefined).length !== 1)
    throw new UsageError(
      'settings',
      'explain needs --row N, --where EXPR, or --level with low, medium, high or unknown.',
    );
  const rejected = readRejected(output);
  if (row !== undefined) checkNumber(row, rejected, output);
  const file = await openEnrichedFile(output);
  const explainer = createExplainer(file);
  try {
    await showRows(file, explainer, rejected, flags);
  } finally {
    explainer.close();
    await file.close();
  }
  return 0;
}

function checkNumber(row: string, rejected: ReadonlySet<number>, output: string): void {
  const number = Number(row);
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError('row', `--row: expected the number of a row, 1 or more, not "${row}".`);
  if (rejected.has(number))
    throw new UsageError(
      'rejected_row',
      `Row ${number} could not be read: see ${sidePathsOfOutput(output).rejects}.`,
    );
}

/** Prints each selected row as soon as it is read: memory may not hold all rows of a long list. */
async function showRows(
  file: EnrichedFile,
  {explain}: Explainer,
  rejected: ReadonlySet<number>,
  {row: wanted, level, where, json = false}: ExplainFlags,
): Promise<void> {
  const {path} = file;
  const resultAt = (name: string) => file.results.names.indexOf(`risk_${name}`);
  const [levelAt, scoreAt, reasonsAt] = [resultAt('level'), resultAt('score'), resultAt('reasons')];
  const background = makeRunFacts(undefined, readRunStart(file) || Date.now());
  const filter =
    where === undefined ? undefined : createRowFilter(where, file.input, background, () => '--where');
  let shown = 0;
  for await (const {row, number} of rowsOf(file, rejected)) {
    const cells = level === undefined ? [] : file.cellsOf(row);
    const isSelected =
      level === undefined ? (filter?.(row) ?? number === Number(wanted)) === true : cells[levelAt] === level;
    if (!isSelected) continue;
    shown += 1;
    if (level !== undefined && !json) {
      if (shown === 1) print('stdout', lineOf('row', 'score', 'reasons'));
      print('stdout', lineOf(String(number), cells[scoreAt] ?? '', parseReasons(cells[reasonsAt] ?? '')));
      continue;
    }
    const explained = await explain(row, number);
    if (explained === undefined && level === undefined)
      throw new UsageError(
        'no_risk',
        `Row ${number} of ${path} has no score to explain: it was written with --score none, or with --fields that leave out risk.points.`,
      );
    if (json) printJsonLine(explained?.explanation ?? null);
    else if (explained !== undefined) print('stdout', `${shown === 1 ? '' : '\n'}${renderRow(explained)}\n`);
    if (wanted !== undefined) return;
  }
  if (wanted !== undefined)
    throw new UsageError('no_risk', `${path} has no row ${wanted}: it was rejected, or the list is shorter.`);
  if (where !== undefined && shown === 0)
    throw new UsageError('no_risk', `${path} has no row where this is true (--where).`);
  if (level === undefined || json) return;
  const next = shown === 0 ? '' : ` To see why: bulk-enrich explain ${shellWord(path)} --row N`;
  print('stdout', `${pluralize(shown, 'row')} of ${level} risk.${next}\n`);
}

const NUMBER_WIDTH = 9;

function parseReasons(text: string): string {
  const reasons: unknown = JSON.parse(text === '' ? '[]' : text);
  return Array.isArray(reasons) ? reasons.join(', ') : '';
}

function lineOf(row: string, score: string, reasons: string): string {
  return `${row.padStart(NUMBER_WIDTH)}  ${score.padStart('score'.length)}  ${reasons}`
    .trimEnd()
    .concat('\n');
}

function renderRow({explanation, used}: Explained): string {
  const {row, score, level, points, missing, rules, next} = explanation;
  const counted = Object.entries(points).map(([reason, add]) => {
    const held = rules.filter(rule => rule.reason === reason && rule.shadow !== true);
    return [reason, signed(add), held.map(({when}) => when).join(' or '), describeRules(held)];
  });
  const shadows = rules.flatMap(rule =>
    rule.shadow === true ? [[`${rule.reason} (shadow)`, 'not added', rule.when, describeRules([rule])]] : [],
  );
  const lines = [...counted, ...shadows];
  const sum = Object.values(points).reduce((all, add) => all + add, 0);
  const kept = sum < 0 || sum > 100 ? ` (${sum}, kept between 0 and 100)` : '';
  return [
    score === null
      ? `Row ${row}: no score, because too much is missing. The known points come to ${sum}.`
      : `Row ${row}: ${score}${kept}, ${level}.`,
    lines.length === 0 ? 'No rule held.' : formatTable(lines),
    ...(missing.length === 0
      ? []
      : [
          `The rules could not use these fields, as they are missing or do not fit (no number, or a division by zero): ${missing.join(', ')}.`,
        ]),
    ...renderValues(used),
    ...next.map(nextLine),
  ]
    .map(line => (line.includes('\n') ? line : breakLines(line, terminalWidth('stdout'))))
    .join('\n');
}

function signed(add: number): string {
  return `${add < 0 ? '' : '+'}${add}`;
}

function describeRules(rules: Explained['explanation']['rules']): string {
  return rules
    .flatMap(({description, owner}) => [description, owner === undefined ? undefined : `(${owner})`])
    .filter(Boolean)
    .join(' ');
}

/** The values that rules used. They are personal data, so only a terminal shows them: a file may be a log. */
function renderValues(used: Explained['used']): string[] {
  if (process.stdout.isTTY !== true) return [];
  const values = new Map(used.flatMap(rule => [...rule]));
  const told = [...values].map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  return told.length === 0 ? [] : [`Went by: ${told.join(', ')}.`];
}

function nextLine({level, points, rules}: Explained['explanation']['next'][number]): string {
  const change = `${pluralize(Math.abs(points), 'point')} ${points < 0 ? 'fewer' : 'more'}`;
  const alone = rules.length === 0 ? 'no rule is enough alone' : `enough alone: ${rules.join(', ')}`;
  return `To be ${level}: ${change} (${alone}).`;
}

/** The rows of an output with their numbers in the input, from 1. Rejected rows have numbers, too. */
async function* rowsOf(
  file: EnrichedFile,
  rejected: ReadonlySet<number>,
): AsyncGenerator<{row: FileRow; number: number}> {
  let number = 0;
  for await (const rows of file.batches())
    for (const row of rows) {
      do number += 1;
      while (rejected.has(number));
      yield {row, number};
    }
}

function readRejected(output: string): ReadonlySet<number> {
  const path = sidePathsOfOutput(output).rejects;
  if (!existsSync(path)) return new Set();
  const rejects = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  return new Set(rejects.map(line => (JSON.parse(line) as {row: number}).row));
}

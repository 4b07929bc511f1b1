import {exitCodes, UsageError} from '../../errors.ts';
import {openRecordSource} from '../../input/source.ts';
import {diffOutputs} from '../../output/earlier/diff.ts';
import {rescoreOutput} from '../../output/earlier/score-again.ts';
import {checkNewFilePath} from '../../output/earlier/whole-file.ts';
import {type BadRowsComparison, type Changes, levelGrid} from '../../report/changes.ts';
import {formatCount, formatPercent, pluralize, rankByCount} from '../../report/format.ts';
import {type TestedRule, testRules} from '../../score/rule-tests.ts';
import {loadRules, readRulesFile} from '../../score/rules.ts';
import {annotation, inGitHubActions, pauseWorkflowCommands} from '../github.ts';
import {breakLines, formatTable, terminalWidth} from '../terminal/lines.ts';
import {print, printJson, printRawRows, printWorkflowCommand} from '../terminal/printable.ts';

interface OutputFlags {
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `bulk-enrich diff OLD NEW`: shows the changes between two outputs. */
export async function diffCommand(
  old: string,
  fresh: string,
  {key, output: to, force = false, json = false}: OutputFlags & {readonly key?: readonly string[]},
): Promise<number> {
  checkNewFilePath(to, [old, fresh], force);
  const changes = await diffOutputs({old, new: fresh, key, to});
  if (json) printJson(changes);
  else
    print('stdout', `${changeTable(changes, [old, fresh])}\n${key === undefined ? adviseKey(changes) : ''}`);
  printWritten(to, changes.new + changes.changed + changes.without_key.new);
  return 0;
}

/** A sentence on rows that were matched by all their cells, so that a changed one is a new and a gone one. */
function adviseKey({new: added, gone}: Changes): string {
  if (added === 0 || gone === 0) return '';
  return breakLines(
    '\nRows are matched by all their own cells: one whose cells changed counts as new and as gone. To match by one column: --key COLUMN.\n',
  );
}

/** `bulk-enrich score OUTPUT --rules FILE`: scores the rows of an output by other rules, without a call. */
export async function scoreCommand(
  path: string,
  flags: OutputFlags & {readonly rules: string; readonly now?: string; readonly bad?: string},
): Promise<number> {
  const {output: to, force = false, json = false} = flags;
  checkNewFilePath(to, [path, flags.rules], force);
  const rules = loadRules(flags.rules, () => '--rules');
  if (rules === undefined)
    throw new UsageError('score_rules', '--rules none gives no score. Name a rules file, or default.');
  const now = flags.now === undefined ? undefined : Date.parse(flags.now);
  if (Number.isNaN(now))
    throw new UsageError('settings', '--now: expected a time such as 2026-01-31T02:00:00Z.');
  const changes = await rescoreOutput({path, rules, now, to, bad: flags.bad});
  if (json) printJson(changes);
  else {
    const bad = changes.bad_rows === undefined ? '' : `\n${badTable(changes.bad_rows)}\n`;
    print('stdout', `${changeTable(changes, [path, to ?? flags.rules])}\n${bad}`);
  }
  printWritten(to, changes.rows.new);
  return 0;
}

/** `bulk-enrich rejects FILE`: prints the rows that could not be read. */
export async function rejectsCommand(path: string): Promise<number> {
  const {bytes, cut} = await readRerunList(path);
  await pauseWorkflowCommands(true, async () => printRawRows(bytes));
  if (cut > 0) print('stderr', `${pluralize(cut, 'row')} left out: too long to be kept whole.\n`);
  return 0;
}

function printWritten(to: string | undefined, rows: number): void {
  if (to !== undefined) print('stderr', `${pluralize(rows, 'row')} written to ${to}.\n`);
}

function changeTable(changes: Changes, paths: readonly [old: string, fresh: string]): string {
  const {new: added, gone, changed, unchanged, key, levels, reasons, answers} = changes;
  const {names, rows} = levelGrid(levels);
  const by = key.length === 0 ? '' : `, matched by ${key.map(name => `"${name}"`).join(', ')}`;
  const sides = [
    [paths[0], 'old'],
    [paths[1], 'new'],
  ] as const;
  const troubles = sides.flatMap(([path, side]) => troublesOf(changes, path, side));
  const only = sides.flatMap(([path, side]) => {
    const names = changes.columns[side];
    return names.length === 0 ? [] : [`Only ${path} has ${names.join(', ')}: not compared.`];
  });
  return [
    `${formatCount(added)} new, ${formatCount(gone)} gone, ${formatCount(changed)} changed, ${formatCount(unchanged)} unchanged${by}.`,
    ...troubles,
    ...only,
    ...(rows.length === 0 ? [] : ['', formatTable([['from \\ to', ...names], ...rows])]),
    ...ranking('Reasons that came', reasons.came),
    ...ranking('Reasons that went', reasons.went),
    ...ranking('Answers that changed', answers),
  ]
    .map(line =>
      breakLines(line, line.startsWith('from') ? Number.POSITIVE_INFINITY : terminalWidth('stdout')),
    )
    .join('\n');
}

function troublesOf({without_key, repeated}: Changes, path: string, side: 'old' | 'new'): string[] {
  const [without, again] = [without_key[side], repeated[side]];
  return [
    ...(without === 0 ? [] : [`${path}: ${pluralize(without, 'row')} without a key: not matched.`]),
    ...(again === 0
      ? []
      : [
          `${path}: ${pluralize(again, 'row')} with the key of an earlier row. Rows with one key are matched in the order of their files.`,
        ]),
  ];
}

function ranking(title: string, counts: Readonly<Record<string, number>>): string[] {
  const all = rankByCount(counts).map(([name, rows]) => `${name} ${formatCount(rows)}`);
  return all.length === 0 ? [] : ['', `${title}: ${all.join(', ')}.`];
}

/** Levels and rules with their share of the bad rows and of the others. */
function badTable({rows, levels, reasons}: BadRowsComparison): string {
  const lines = [...levels, ...reasons].map(({name, bad, others, times}) => [
    ...[
      name,
      formatCount(bad),
      formatCount(others),
      formatPercent(bad, rows.bad),
      formatPercent(others, rows.others),
    ],
    times === null ? 'too few' : `${times.toFixed(1)} ×`,
  ]);
  const head = ['', 'bad', 'others', 'of bad', 'of others', 'likelier'];
  const [first, ...rest] = formatTable([head, ...lines]).split('\n');
  const byLevel = rest.slice(0, levels.length);
  const title = `${pluralize(rows.bad, 'bad row')}, ${formatCount(rows.others)} others:`;
  return [title, '', first, ...byLevel, '', ...rest.slice(levels.length)].join('\n');
}

/**
 * Rejected rows below their old header, to fix and run, in bytes: some are not text. `cut`: those too long to be kept.
 */
export async function readRerunList(path: string): Promise<{readonly bytes: Buffer; readonly cut: number}> {
  const lines = await readLines(path);
  const [first] = lines;
  if (typeof first?.header !== 'string') {
    const why = first === undefined ? '' : ": its lines are not those of a run's rejects";
    throw new UsageError('no_rejects', `${path} holds no rejected rows${why}.`);
  }
  const rows = lines.map(rowOf).filter(row => row !== undefined);
  const ended = rows.flatMap(row => (row.length === 0 ? [] : [row, Buffer.from('\n')]));
  return {bytes: Buffer.concat([Buffer.from(first.header), ...ended]), cut: lines.length - rows.length};
}

type Line = Readonly<Record<string, unknown>>;

/** The row as it was in its list; undefined if it was too long to be kept. */
function rowOf({raw, raw_base64: base64, raw_truncated: isCut}: Line): Buffer | undefined {
  if (typeof base64 === 'string') return Buffer.from(base64, 'base64');
  return isCut === true ? undefined : Buffer.from(String(raw));
}

async function readLines(path: string): Promise<Line[]> {
  const format = {header: true, encoding: 'utf-8', maxRecordSize: 2 ** 28, inputFormat: 'ndjson'} as const;
  const source = await openRecordSource({paths: [path], ...format});
  const lines: Line[] = [];
  try {
    for await (const records of source.batches())
      for (const record of records) {
        if (record.type !== 'ndjson' || typeof record.value.raw !== 'string')
          throw new UsageError(
            'no_rejects',
            `${path} is not a file of rejected rows, such as OUT.rejects.ndjson.`,
          );
        lines.push(record.value);
      }
    return lines;
  } finally {
    await source.close();
  }
}

/** `bulk-enrich rules test FILE…`: runs the tests in rules files. */
export async function rulesTestCommand(paths: readonly string[]): Promise<number> {
  let failed = 0;
  for (const path of paths) failed += testFile(path);
  return failed === 0 ? exitCodes.ok : exitCodes.limit;
}

function testFile(path: string): number {
  const file = readRulesFile(path);
  const {tests, rules, unreached} = testRules(file);
  if (tests.length === 0)
    throw new UsageError(
      'score_rules',
      `${path} has no tests. Add them below "tests:"${file.isUnderScore ? ', within "score:"' : ''}, such as {answers: {ip: {is_tor_node: true}}, level: medium}.`,
    );
  const failed = tests.filter(({failures}) => failures.length > 0);
  for (const test of failed) printFailure(test);
  const passed = `${path}: ${tests.length - failed.length} of ${pluralize(tests.length, 'test')} passed.`;
  const unreachedRules =
    unreached.length === 0
      ? ''
      : ` No test reaches ${unreached.length} of ${pluralize(rules, 'rule')}: ${unreached.join(', ')}.`;
  print('stdout', `${passed}${unreachedRules}\n`);
  return failed.length;
}

function printFailure({name, place, failures}: TestedRule): void {
  const what = failures.join('; ');
  print('stdout', `FAILED ${place}: ${name}: ${what}.\n`);
  if (!inGitHubActions()) return;
  const [, file = '', line = '1'] = /^(.*?):(\d+)/.exec(place) ?? [];
  printWorkflowCommand(annotation('error', `bulk-enrich: ${name}`, what, {file, line: Number(line)}));
}

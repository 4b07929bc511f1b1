import {UsageError} from '../../errors.ts';
import {InputError} from '../../input/input-error.ts';
import {jsonMembers} from '../../input/records/json-reader.ts';
import type {FileRow, NdjsonRow} from '../../input/row.ts';
import {getAtPath} from '../../operations/fields.ts';
import type {BadRowFrequency, BadRowsComparison, ScoreChanges} from '../../report/changes.ts';
import {createRowFilter} from '../../score/conditions.ts';
import type {PathReference} from '../../score/language/expression.ts';
import type {RiskLevel} from '../../score/language/rule-variables.ts';
import type {RuleSet} from '../../score/rules.ts';
import {makeRunFacts, type RunFacts} from '../../score/run-facts.ts';
import {createScorer, type Risk, type RuleOutcomes, type Scorer} from '../../score/scorer.ts';
import type {RowView} from '../../score/subjects.ts';
import {
  addedNames,
  ENRICHMENT,
  planRiskColumns,
  REPAIRS_COLUMN,
  type RiskColumn,
  riskCells,
} from '../result-columns.ts';
import {ChangeCounts} from './change-counts.ts';
import {type EnrichedFile, openEnrichedFile, readRunStart} from './enriched-file.ts';
import {openRowViews, type RowViews, readTargets} from './read-answers.ts';
import {rewriteOutput, writeWholeFile} from './whole-file.ts';

export interface RescoreRequest {
  readonly path: string;
  readonly rules: RuleSet;
  /** The rules' `now`, in milliseconds since the epoch; the start of the output's run by default. */
  readonly now?: number | undefined;
  readonly to?: string | undefined;
  /** A condition that holds for rows that turned out bad; counts which rules and levels they have. */
  readonly bad?: string | undefined;
}

/**
 * Scores an output's rows by other rules, without calls to the service, and returns the difference. With `to`,
 * writes the same rows with the new scores.
 *
 * @throws {UsageError} if rules read a field or time that the output lacks, or `bad` holds for no row; {@link
 * InputError}; {@link OutputError}.
 */
export async function rescoreOutput({path, rules, now, to, bad}: RescoreRequest): Promise<ScoreChanges> {
  const file = await openEnrichedFile(path);
  let views: RowViews | undefined;
  try {
    const {results, input} = file;
    const risk = results.risk.length > 0 ? results.risk : planRiskColumns(undefined);
    // Compares only the risk: the answers are the same before and after.
    const compared = addedNames([], {risk, repairs: false});
    const counts = new ChangeCounts(compared, compared);
    const startedAt = now ?? readRunStart(file);
    const background = makeRunFacts(rules, startedAt || 0);
    const scorer = createScorer(rules, readTargets(file), input, background, risk);
    const badRows = bad === undefined ? undefined : countBadRows(bad, rules, file, background);
    refuseLacking(file, scorer, Number.isNaN(startedAt));
    views = await openRowViews(file, scorer.reads, rules.sameBy);
    const {viewOf} = views;
    const unseen = new UnseenFields(file, scorer.reads);
    const riskEnd = results.riskAt + results.risk.length;
    let rows = 0;
    const rescore = (row: FileRow) => {
      const cells = file.cellsOf(row);
      const view = viewOf(row, cells);
      unseen.remove(view);
      const {risk: judged, outcomes} = scorer.score(view);
      badRows?.add(row, judged, outcomes);
      const after = riskCells(judged, risk);
      counts.compare(cells.slice(results.riskAt, riskEnd), after);
      rows += 1;
      return {judged, cells: [...cells.slice(0, results.riskAt), ...after, ...cells.slice(riskEnd)]};
    };
    const rewrite = (row: FileRow) => {
      const {judged, cells} = rescore(row);
      if (row.type === 'ndjson') return withRisk(file, row, judged, risk);
      return [...row.fields.slice(0, input.columns.length), ...cells];
    };
    const header = input.kind === 'csv' ? (input.header ?? []) : [];
    async function* texts() {
      yield* rewriteOutput(file, [...header, ...addedNames(results.lookups, {...results, risk})], rewrite);
      unseen.refuse();
    }
    if (to !== undefined) await writeWholeFile(to, texts());
    else for await (const batch of file.batches()) batch.forEach(rescore);
    unseen.refuse();
    const none = {old: 0, new: 0};
    return {
      ...counts.changes({key: [], rows: {old: rows, new: rows}, without_key: none, repeated: none}),
      ...(badRows !== undefined && {bad_rows: badRows.result()}),
    };
  } finally {
    views?.close();
    await file.close();
  }
}

/** Refuses rules that read a field without a column in the output, or `now` where it is not known (`lacksNow`). */
function refuseLacking({path, results}: EnrichedFile, {reads}: Scorer, lacksNow: boolean): void {
  if (lacksNow && reads.some(({path: [root]}) => root === 'now'))
    throw new UsageError(
      'settings',
      `The rules read "now", and ${path} has no summary with its time beside it. Add --now 2026-01-31T02:00:00Z.`,
    );
  for (const read of reads) {
    const lookups = results.lookups.filter(({operation, key}) => [operation, key].includes(read.path[0]));
    if (lookups.some(({fields}) => fieldsAt(fields, read).length === 0)) throw lackedBy(path, read);
  }
}

/** The columns' fields at a path such as `verify.verdict.can_pass`, or below it. */
function fieldsAt<Field extends {readonly path: readonly string[]}>(
  fields: readonly Field[],
  {path: [, ...names]}: PathReference,
): Field[] {
  return fields.filter(({path}) => names.every((name, at) => path[at] === name));
}

function lackedBy(path: string, {name}: PathReference): UsageError {
  return new UsageError(
    'unknown_field',
    `${path} has no column of ${name}, which the rules read: it was written with --fields. Score an output that has it.`,
  );
}

/**
 * Fields of nested answers that rules read, and that no row has had yet. Nested NDJSON has no columns: only the summary
 * shows that the output lacks a field.
 */
class UnseenFields {
  readonly #file: string;
  readonly #reads: Map<PathReference, readonly number[]>;

  constructor({path, results: {isNested, lookups}, summary}: EnrichedFile, reads: readonly PathReference[]) {
    const unseen = (isNested ? reads : []).flatMap(read => {
      const indices = lookups.flatMap((lookup, index) => {
        const {operation, key, fields} = lookup;
        const shares = operation === undefined ? undefined : summary?.fields?.[operation];
        const isRead = read.path.length > 1 && (read.path[0] === operation || read.path[0] === key);
        const hadIt = fieldsAt(fields, read).some(({name}) => (shares?.[name]?.present ?? 0) > 0);
        return isRead && hadIt ? [index] : [];
      });
      return indices.length === 0 ? [] : [[read, indices] as const];
    });
    this.#file = path;
    this.#reads = new Map(unseen);
  }

  /** Removes the fields that a row's answers have. */
  remove({answers}: RowView): void {
    for (const [read, lookups] of this.#reads)
      if (lookups.some(index => getAtPath(answers[index], read.path.slice(1)) !== undefined))
        this.#reads.delete(read);
  }

  /** @throws {UsageError} if a field is left: it was left out of the output. */
  refuse(): void {
    for (const read of this.#reads.keys()) throw lackedBy(this.#file, read);
  }
}

/**
 * An NDJSON row's text with another risk. Searches from the end, since only repairs come after the risk.
 *
 * @throws {InputError} if the text does not end like a row with results.
 */
function withRisk(
  {path, results: {isNested, risk}}: EnrichedFile,
  row: NdjsonRow,
  judged: Risk,
  columns: readonly RiskColumn[],
): string {
  const raw = row.raw.trim();
  const end = isNested ? '}}' : '}';
  if (!raw.endsWith(end) || (isNested && [...jsonMembers(raw).keys()].at(-1) !== ENRICHMENT))
    throw new InputError(
      'input_corrupt',
      `${path}:${row.line} does not end with the answers: the file was changed since its run.`,
    );
  const text = raw.slice(0, -end.length);
  const repairs = isNested ? -1 : text.lastIndexOf(`,"${REPAIRS_COLUMN}":`);
  const after = repairs < 0 ? '' : text.slice(repairs);
  const [first = 'score'] = columns;
  const before = risk.length === 0 ? -1 : text.lastIndexOf(isNested ? ',"risk":' : `,"risk_${first}":`);
  const kept = text.slice(0, before >= 0 ? before : text.length - after.length);
  const members = columns.map(name => `"risk_${name}":${JSON.stringify(judged[name])}`).join(',');
  return `${kept},${isNested ? `"risk":${JSON.stringify(judged)}` : members}${after}${end}`;
}

/** Fewer rows than this with a reason or level, or of either kind, are too few to compare. */
const FEW = 10;

type BadCount = ReturnType<typeof countOf>;

const countOf = (name: string) => ({name, bad: 0, others: 0});

/**
 * Counts how often bad rows, and all others, have each rule's reason and each level.
 *
 * @throws {UsageError} if `bad` is not a condition, or reads an unknown column.
 */
function countBadRows(bad: string, {rules}: RuleSet, {input}: EnrichedFile, background: RunFacts) {
  const isBad = createRowFilter(bad, input, background, () => '--bad');
  const [all, levels] = [countOf('rows'), LEVELS.map(countOf)];
  const reasons = rules.map(({reason}) => countOf(reason));
  const shareOf = ({name, bad, others}: BadCount): BadRowFrequency => {
    const isFew = Math.min(all.bad, all.others, bad + others) < FEW || others === 0;
    return {name, bad, others, times: isFew ? null : bad / all.bad / (others / all.others)};
  };
  return {
    add(row: FileRow, {level}: Risk, {held}: RuleOutcomes): void {
      const kind = isBad(row) ? 'bad' : 'others';
      for (const count of [all, levels[LEVELS.indexOf(level)], ...held.map(index => reasons[index])])
        if (count !== undefined) count[kind] += 1;
    },
    /** @throws {UsageError} if no row is bad: a misspelt value would pass for rules that tell nothing. */
    result(): BadRowsComparison {
      if (all.bad === 0)
        throw new UsageError('no_bad_rows', '--bad holds for no row. Check its column and value.');
      const rows = {bad: all.bad, others: all.others};
      return {rows, levels: levels.map(shareOf), reasons: reasons.map(shareOf)};
    },
  };
}

const LEVELS: readonly RiskLevel[] = ['high', 'medium', 'low', 'unknown'];

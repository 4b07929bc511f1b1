import {CodedError, describeUnforeseenError} from '../../errors.ts';
import type {Row} from '../../input/row.ts';
import {makeInternalFailure} from '../../ledger/lookup-outcome.ts';
import {packageVersion} from '../../operations/package-files.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import type {Risk} from '../../score/scorer.ts';
import type {RowView} from '../../score/subjects.ts';
import type {RunIo} from '../io.ts';
import type {Layout} from '../layout/layout.ts';
import type {parseAnswer} from './answer-parser.ts';
import type {ReadyRecord} from './reorder-buffer.ts';

const NOT_SCORED = {risk: undefined, outcomes: undefined};
/** The risk of a row at which this program failed. */
const UNSCORED: Risk = {score: null, level: 'unknown', reasons: [], points: {}, missing: ['internal_error']};

/** Makes rows with their results into enriched rows. Warns once if this program fails at a row: only that row suffers. */
export class RowJudge {
  readonly #layout: Layout;
  readonly #warn: RunIo['warn'];
  #hasWarned = false;

  constructor(layout: Layout, warn: RunIo['warn']) {
    this.#layout = layout;
    this.#warn = warn;
  }

  /** Parses the answers that the row's conditions did not need, with `parse`, and scores the row. */
  enrich<Kind extends Row>(
    row: Kind,
    {results, repairs, answers: parsed}: ReadyRecord,
    parse: typeof parseAnswer,
  ): EnrichedRow<Kind> {
    for (const result of results) if ('thrown' in result) this.#warnOnce(row, result.thrown);
    try {
      const answers = this.#layout.mapping.targets.map(
        ({operation}, index) => parsed?.[index] ?? parse(results[index], operation),
      );
      return {row, results, repairs, answers, ...this.#score({row, results, answers})};
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      return this.fail(row, thrown);
    }
  }

  /** A row at which this program failed: it has no answers. Paid ones are in the ledger and the store. */
  fail<Kind extends Row>(row: Kind, thrown: unknown): EnrichedRow<Kind> {
    this.#warnOnce(row, thrown);
    const results = this.#layout.mapping.targets.map(() => makeInternalFailure(thrown));
    const risk = this.#layout.scorer && UNSCORED;
    return {row, results, repairs: undefined, answers: [], risk, outcomes: undefined};
  }

  #score(view: RowView): Pick<EnrichedRow, 'risk' | 'outcomes'> {
    const {scorer, facts} = this.#layout;
    try {
      return scorer?.score({...view, shared: facts?.of(view.row)}) ?? NOT_SCORED;
    } catch (thrown) {
      if (thrown instanceof CodedError) throw thrown;
      this.#warnOnce(view.row, thrown);
      return {risk: UNSCORED, outcomes: undefined};
    }
  }

  #warnOnce({record}: Row, thrown: unknown): void {
    if (!this.#hasWarned)
      this.#warn(
        `Row ${record}: this program failed at a cell, which is \`failed\` with \`internal_error\`; so is every other such cell. Please report this sentence (version ${packageVersion()}: ${describeUnforeseenError(thrown)}).`,
      );
    this.#hasWarned = true;
  }
}

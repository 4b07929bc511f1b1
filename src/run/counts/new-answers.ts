import {setImmediate as nextTurn} from 'node:timers/promises';
import {listFieldNames, readAnswerFields} from '../../client/answer-fields.ts';
import {isStorable, type Outcome} from '../../ledger/lookup-outcome.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {BookedAttempt} from '../../ledger/run/ledger-entry.ts';
import {countServiceName} from '../../ledger/run/tally.ts';
import {fieldTypes, getAtPath, lacksSignals, signals} from '../../operations/fields.ts';
import {type Operation, operationNames, perOperation} from '../../operations/table.ts';
import {fieldsOfOperation} from '../../output/result-columns.ts';
import {pluralize, rankByCount} from '../../report/format.ts';
import {countFields, type FieldCounts} from './counters.ts';

/** Earlier answers that are read of each operation, and the fewest, of the new ones too, that are compared. */
export const COMPARED_ANSWERS = 100;
const FEWEST = 5;
/** A field that this share of earlier answers has does not vanish by chance. */
const USUAL = 0.9;

/** Counts of one operation. */
function zeroNewAnswers() {
  return {
    ...{answers: 0, withSignals: 0, unkept: 0, otherForms: 0, unusable: 0},
    fields: {} as FieldCounts,
    unknown: {} as Record<string, number>,
    /** Answers that could not be used, by the reason; of many reasons, some are left out. */
    reasons: {} as Record<string, number>,
    /** The latest answers of earlier runs, read before the first new one is kept. */
    earlier: undefined as readonly unknown[] | undefined,
  };
}

/** The answers that the run's calls brought, apart from those that were known: a service that breaks shows in them. */
export class NewAnswers {
  readonly #fields = perOperation(fieldsOfOperation);
  readonly #latest: (operation: Operation) => readonly unknown[];
  readonly #counts = perOperation(zeroNewAnswers);

  /** `latest` reads the latest answers of earlier runs. It is called once for each operation. */
  constructor(latest: (operation: Operation) => readonly unknown[] = () => []) {
    this.#latest = latest;
  }

  count({operation, attempt, outcome}: BookedAttempt): void {
    const counts = this.#counts[operation];
    if (attempt.kind === 'unreadable') {
      counts.unusable += 1;
      countServiceName(counts.reasons, attempt.detail);
    }
    if (attempt.kind !== 'answered') return;
    if (attempt.isOtherForm === true) counts.otherForms += 1;
    this.#countAnswer(operation, attempt, outcome);
  }

  /** Counts the answers that earlier sessions of the run bought, in groups between other work. */
  async countBought(groups: ReturnType<Ledger['newAnswersAfter']>): Promise<void> {
    for (const answers of groups) {
      for (const {operation, outcome} of answers) {
        const answer = JSON.parse(outcome.data);
        this.#countAnswer(operation, readAnswerFields(fieldTypes[operation], answer, false), outcome);
      }
      await nextTurn();
    }
  }

  #countAnswer(
    operation: Operation,
    {data, unknownFields}: {readonly data: unknown; readonly unknownFields: readonly string[]},
    outcome: Outcome | undefined,
  ): void {
    const counts = this.#counts[operation];
    this.#earlier(operation);
    counts.answers += 1;
    if (!lacksSignals(operation, data)) counts.withSignals += 1;
    if (outcome?.status === 'ok' && !isStorable(outcome)) counts.unkept += 1;
    countFields(counts.fields, data, this.#fields[operation]);
    for (const name of unknownFields) countServiceName(counts.unknown, name);
  }

  /** True if an answer of the operation, of this run or an earlier one, had a field that the default rules read. */
  hadSignals(operation: Operation): boolean {
    const hasSignals = (data: unknown) => !lacksSignals(operation, data);
    return this.#counts[operation].withSignals > 0 || this.#earlier(operation).some(hasSignals);
  }

  of(operation: Operation): {readonly answers: number; readonly fields: FieldCounts} {
    return this.#counts[operation];
  }

  get otherForms(): number {
    return operationNames.reduce((sum, name) => sum + this.#counts[name].otherForms, 0);
  }

  /** Sentences on new answers that could not be used, or are unlike earlier ones. */
  get oddities(): string[] {
    return operationNames.flatMap(name => [...this.#unusable(name), ...this.#unlikeEarlier(name)]);
  }

  #unusable(name: Operation): string[] {
    const {unusable, reasons} = this.#counts[name];
    const [first] = rankByCount(reasons);
    if (first === undefined) return [];
    const [reason, count] = first;
    const most = count < unusable ? ', most often' : '';
    return [`${pluralize(unusable, `${name} answer`)} could not be used${most}: ${reason}.`];
  }

  #unlikeEarlier(name: Operation): string[] {
    const {answers, unkept, fields, unknown, otherForms} = this.#counts[name];
    if (answers < FEWEST) return [];
    const earlier = this.#earlier(name);
    const gone = signals[name].flatMap(path => {
      const had = earlier.filter(data => (getAtPath(data, path) ?? undefined) !== undefined).length;
      const isUsual = earlier.length >= FEWEST && had >= USUAL * earlier.length;
      const known = this.#fields[name].find(field => field.path.join('.') === path.join('.'))?.name ?? '';
      return isUsual && fields[known] === undefined ? [path.join('.')] : [];
    });
    const before = earlier.flatMap(
      data => readAnswerFields(fieldTypes[name], Object(data), false).unknownFields,
    );
    const isNew = (field: string) => before.filter(name => name === field).length <= earlier.length / 2;
    const added = Object.keys(unknown).filter(field => (unknown[field] ?? 0) > answers / 2 && isNew(field));
    return [
      ...(gone.length > 0 ? [`No new ${name} answer has ${gone.join(', ')}, which rules read.`] : []),
      ...(unkept >= FEWEST && gone.length === 0
        ? [`${unkept} of ${answers} new ${name} answers have no field that rules read, and are not kept.`]
        : []),
      ...(added.length > 0
        ? [`Most new ${name} answers have unknown fields: ${listFieldNames(added)}.`]
        : []),
      ...(otherForms > answers / 2
        ? [`Most new ${name} answers name the value in another form than was sent.`]
        : []),
    ];
  }

  #earlier(operation: Operation): readonly unknown[] {
    const counts = this.#counts[operation];
    counts.earlier ??= this.#latest(operation);
    return counts.earlier;
  }
}

import {usedAnswer} from '../../client/answer-fields.ts';
import type {Row} from '../../input/row.ts';
import type {Layout} from '../../layout/layout.ts';
import type {Result} from '../../ledger/lookup.ts';
import {KeptWithAnswer} from '../../lookup/kept-with-answer.ts';
import type {Operation} from '../../operations/table.ts';
import type {EnrichedRow} from '../../output/encoder.ts';
import type {ReadyRecord} from './in-order.ts';

/** A row with its answers parsed and its risk judged. */
export function enrichedRow<Kind extends Row>(
  {scorer, mapping}: Layout,
  row: Kind,
  {results, repairs, answers: parsed}: ReadyRecord,
  parse: typeof parsedAnswer = parsedAnswer,
): EnrichedRow<Kind> {
  const answers = mapping.targets.map(
    ({operation}, index) => parsed?.[index] ?? parse(results[index], operation),
  );
  const judged = scorer?.score({row, results, answers});
  return {row, results, repairs, answers, risk: judged?.risk, outcomes: judged?.outcomes};
}

/** A result's answer, parsed, as far as it can be used; undefined if it has none. */
export function parsedAnswer(result: Result | undefined, operation: Operation): unknown {
  return result !== undefined && 'data' in result && result.data !== undefined
    ? usedAnswer(operation, JSON.parse(result.data))
    : undefined;
}

/** Parses each outcome's answer once. What it gives is shared by the rows of a value, so that nobody may change it. */
export function sharedAnswers(): typeof parsedAnswer {
  const known = new KeptWithAnswer<unknown>();
  return (result, operation) => {
    if (result?.status !== 'ok') return parsedAnswer(result, operation);
    const before = known.get(result);
    if (before !== undefined) return before;
    const answer = parsedAnswer(result, operation);
    known.set(result, answer);
    return answer;
  };
}

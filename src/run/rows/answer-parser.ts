import {dropMistypedFields} from '../../client/answer-fields.ts';
import type {CellResult} from '../../ledger/lookup-outcome.ts';
import {RecentValues} from '../../operations/memoize.ts';
import {type Operation, perOperation} from '../../operations/table.ts';

/** The parsed answer of a result, without fields of a wrong type; undefined without an answer. */
export function parseAnswer(result: CellResult | undefined, operation: Operation): unknown {
  return result !== undefined && 'data' in result && result.data !== undefined
    ? dropMistypedFields(operation, JSON.parse(result.data))
    : undefined;
}

/** Maximum bytes of the answers that a parser remembers, for each operation. */
const RECENT_BYTES = 8_388_608;
/** Memory of an answer as text and as parsed data, in multiples of its text. */
const WITH_DATA = 3;

/** Returns a parser that parses equal answers once. Rows share the parsed answer, so nothing may change it. */
export function createSharedAnswerParser(): typeof parseAnswer {
  const recent = perOperation(() => new RecentValues<unknown>(RECENT_BYTES, text => WITH_DATA * text.length));
  return (result, operation) => {
    const known = result?.status === 'ok' ? recent[operation].get(result.data) : undefined;
    if (known !== undefined) return known;
    const answer = parseAnswer(result, operation);
    if (result?.status === 'ok') recent[operation].set(result.data, answer);
    return answer;
  };
}

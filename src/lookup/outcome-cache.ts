import {dropMistypedFields} from '../client/answer-fields.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import {type Operation, perOperation} from '../operations/table.ts';

/** Approximate bytes that V8 needs for an entry, without its text and its value. */
const ENTRY_BYTES = 100;

/**
 * Remembers values of recent texts in two generations. When the younger one is full, drops the older one. Together they
 * take at most `maxBytes`, by the count of `bytesOf`.
 */
export class OutcomeCache<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (text: string, value: Value) => number;
  #young = new Map<string, Value>();
  #old = new Map<string, Value>();
  #youngBytes = 0;

  constructor(maxBytes: number, bytesOf: (text: string, value: Value) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get(text: string): Value | undefined {
    const young = this.#young.get(text);
    if (young !== undefined) return young;
    const old = this.#old.get(text);
    if (old !== undefined) this.set(text, old);
    return old;
  }

  set(text: string, value: Value): void {
    const bytes = ENTRY_BYTES + this.#bytesOf(text, value);
    if (this.#youngBytes + bytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#youngBytes = 0;
    }
    this.#young.set(text, value);
    this.#youngBytes += bytes;
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }
}

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
  const recent = perOperation(() => new OutcomeCache<unknown>(RECENT_BYTES, text => WITH_DATA * text.length));
  return (result, operation) => {
    const known = result?.status === 'ok' ? recent[operation].get(result.data) : undefined;
    if (known !== undefined) return known;
    const answer = parseAnswer(result, operation);
    if (result?.status === 'ok') recent[operation].set(result.data, answer);
    return answer;
  };
}

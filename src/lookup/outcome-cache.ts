import {dropMistypedFields} from '../client/answer-fields.ts';
import type {CellResult} from '../ledger/lookup-outcome.ts';
import {type Operation, perOperation} from '../operations/table.ts';

/**
 * Remembers results for texts that were set at least twice lately. It does not keep a text that came once: the
 * garbage collector would have to move it, and would free it late.
 *
 * Keeps the results in two generations. When the younger one is full, drops the older one. Together they take at
 * most `maxBytes`, by the count of `bytesOf`.
 */
export class OutcomeCache<Value> {
  readonly #maxBytes: number;
  readonly #bytesOf: (text: string, value: Value) => number;
  /** Hash (32 bits) of the latest text in each slot, to recognize a text that comes again. */
  readonly #seen = new Int32Array(SLOTS);
  #young = new Generation<Value>();
  #old = new Generation<Value>();
  #youngBytes = 0;

  constructor(maxBytes: number, bytesOf: (text: string, value: Value) => number) {
    this.#maxBytes = maxBytes;
    this.#bytesOf = bytesOf;
  }

  get(text: string): Value | undefined {
    const slot = mixOf(text) & LOWEST_BITS;
    const young = this.#young.get(slot, text);
    if (young !== undefined) return young;
    const old = this.#old.get(slot, text);
    if (old !== undefined) this.#keep(slot, text, old);
    return old;
  }

  /** Keeps the value if its text came lately. Otherwise only remembers the hash of the text. */
  set(text: string, value: Value): void {
    const mixed = mixOf(text);
    const slot = mixed & LOWEST_BITS;
    if (this.#seen[slot] === mixed) this.#keep(slot, text, value);
    else this.#seen[slot] = mixed;
  }

  get size(): number {
    return this.#young.values.size + this.#old.values.size;
  }

  #keep(slot: number, text: string, value: Value): void {
    const bytes = ENTRY_BYTES + this.#bytesOf(text, value);
    if (this.#youngBytes + bytes > this.#maxBytes / 2) {
      this.#old = this.#young;
      this.#young = new Generation();
      this.#youngBytes = 0;
    }
    this.#young.set(slot, text, value);
    this.#youngBytes += bytes;
  }
}

/**
 * Values by their texts. To find that a text is missing, a Map must read all of it. But most texts that come
 * only once have an unused slot, which shows this without the Map.
 */
class Generation<Value> {
  readonly values = new Map<string, Value>();
  readonly #used = new Uint8Array(SLOTS);

  get(slot: number, text: string): Value | undefined {
    return this.#used[slot] === 1 ? this.values.get(text) : undefined;
  }

  set(slot: number, text: string, value: Value): void {
    this.#used[slot] = 1;
    this.values.set(text, value);
  }
}

/** Hashes a text to 32 bits. Of a long text, it reads at most {@link SAMPLE} characters. */
function mixOf(text: string): number {
  const step = Math.ceil(text.length / SAMPLE);
  let mixed = text.length;
  for (let at = 0; at < text.length; at += step) mixed = (Math.imul(mixed, 31) + text.charCodeAt(at)) | 0;
  return mixed ^ (mixed >>> 16);
}

const SLOTS = 2 ** 13;
const LOWEST_BITS = SLOTS - 1;
/** Maximum number of a text's characters that are hashed. */
const SAMPLE = 64;

/** Approximate bytes that V8 needs for an entry, without its text and its value. */
const ENTRY_BYTES = 100;

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

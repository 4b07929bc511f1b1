import type {Result} from '../ledger/lookup.ts';

/**
 * What was worked out of an answer, kept with it: the rows of a value that came lately share its outcome. It is a property,
 * as a WeakMap of so many short-lived keys takes the garbage collector more time than to work it out again. What has no
 * answer may be shared by all runs of the process, and keeps nothing.
 */
export class KeptWithAnswer<Value> {
  readonly #name = Symbol('kept');

  get(result: Result): Value | undefined {
    return (result as KeepingResult<Value>)[this.#name];
  }

  set(result: Result, value: Value): void {
    if ('data' in result) (result as KeepingResult<Value>)[this.#name] = value;
  }
}

type KeepingResult<Value> = Result & {[name: symbol]: Value | undefined};

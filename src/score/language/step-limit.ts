import type {ASTNode} from '@marcbachmann/cel-js';
import {changeMember, type Evaluator, listChildren, loopedList} from './ast.ts';

/**
 * Maximum number of steps of one evaluation: each loop and each `in` takes one for each entry of its list. It has room
 * for ten loops over 100,000 entries. Steps are counted, and not time, so that a resume decides the same.
 */
const MOST_STEPS = 1_000_000;

/** An evaluation took more than {@link MOST_STEPS}. */
export class TooManyStepsError extends Error {
  constructor() {
    super('it takes more than 1,000,000 steps, such as entries of lists in loops within loops');
  }
}

/** Counts the steps of evaluations, one at a time. */
export class StepLimit {
  /** Steps left of the evaluation under way; below 0 if it took too many. */
  #left = 0;

  /**
   * Counts the entries of each list that a loop or `in` reads. Once there are too many, lists are empty: an error would
   * not end a loop of the library, which continues with the next entry.
   */
  limit(node: ASTNode): void {
    for (const child of listChildren(node)) this.limit(child.node);
    const list = node.op === 'in' ? node.args[1] : loopedList(node);
    if (list === undefined) return;
    changeMember<Evaluator>(list, 'evaluate', first => {
      const own = list as unknown as {evaluate: Evaluator};
      let read = first;
      const counted: Evaluator = (engine, _, context) => {
        try {
          return this.#count(read.call(list, engine, list, context), node.op);
        } finally {
          // At the first evaluation, the library puts a faster function into the node.
          if (own.evaluate !== counted) [read, own.evaluate] = [own.evaluate, counted];
        }
      };
      return counted;
    });
  }

  #count(entries: unknown, op: ASTNode['op']): unknown {
    if (Array.isArray(entries)) this.#left -= entries.length;
    // A map finds an entry by its name.
    else if (op !== 'in') this.#left -= sizeOf(Object(entries));
    return this.#left < 0 ? [] : entries;
  }

  /** @throws {TooManyStepsError} if the evaluation takes too many steps. */
  run(evaluate: () => unknown): unknown {
    this.#left = MOST_STEPS;
    try {
      const result = evaluate();
      if (this.#left >= 0) return result;
    } catch (error) {
      if (this.#left >= 0) throw error;
    }
    throw new TooManyStepsError();
  }
}

/** The number of entries of a map or an object: a loop over it visits their names. */
function sizeOf(entries: object): number {
  return entries instanceof Map || entries instanceof Set ? entries.size : Object.keys(entries).length;
}

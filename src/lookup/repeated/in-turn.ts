import type {Lookup} from '../../ledger/lookup.ts';
import {operations} from '../../operations/table.ts';
import type {Executor, Task} from '../executor.ts';

/**
 * Sends calls about the same value one after another, in input order, if a call changes the answer to the next: the
 * first one redeems a session token. Later calls wait here until those before them have ended.
 */
export class InTurn {
  readonly #executor: Executor;
  readonly #waiting = new Map<string, Task[]>();

  constructor(executor: Executor) {
    this.#executor = executor;
  }

  /** Resolves when the executor may take another task. */
  async submit(task: Task): Promise<void> {
    const subject = subjectOf(task.lookup);
    const waiting = subject === undefined ? undefined : this.#waiting.get(subject);
    if (waiting !== undefined) {
      waiting.push(task);
      return;
    }
    if (subject !== undefined) this.#waiting.set(subject, []);
    await this.#executor.submit(task);
  }

  /** Notes that a lookup has ended, and submits the next one about the same value. */
  ended(lookup: Lookup): void {
    const subject = subjectOf(lookup);
    if (subject === undefined) return;
    const next = this.#waiting.get(subject)?.shift();
    if (next === undefined) this.#waiting.delete(subject);
    else void this.#executor.submit(next);
  }
}

/** The value whose calls are sent one after another; undefined if the operation's calls change no later answer. */
function subjectOf({operation, params}: Lookup): string | undefined {
  const {again, field} = operations[operation];
  return again && params[field];
}

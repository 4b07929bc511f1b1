import type {Operation} from '../../operations/table.ts';
import type {Attempt} from '../attempt.ts';
import type {ClientOptions, Params} from '../client.ts';

/** What a thread is started with. */
export type ThreadData = Omit<ClientOptions, 'onUnasked'>;

export interface ThreadCall {
  readonly id: number;
  readonly operation: Operation;
  readonly params: Params;
}

/** Calls to make now; `atMs` is when they were handed over, by {@link clockMs}. */
export interface ThreadCalls {
  readonly atMs: number;
  readonly calls: readonly ThreadCall[];
}

/** What a thread tells: that it can be used, how late calls began, what became of them, and an answer nobody asked for. */
export type ThreadNews =
  | {readonly kind: 'ready' | 'unasked'}
  | {readonly kind: 'late'; readonly ms: number}
  | {readonly kind: 'answers'; readonly answers: readonly (readonly [id: number, attempt: Attempt])[]};

/** One clock for all threads, in milliseconds. */
export function clockMs(): number {
  return Number(process.hrtime.bigint() / 1_000n) / 1_000;
}

import type {Operation} from '../../operations/table.ts';
import type {Attempt} from '../attempt.ts';
import type {ClientOptions, Params} from '../client.ts';

/** What a thread is started with. */
export interface ThreadData extends Omit<ClientOptions, 'onUnasked' | 'readKeyAgain'> {
  /** Whether the key can be read again, which is done outside. */
  readonly keyMayChange: boolean;
}

/** What came of reading the key again: the key, or why there is none. */
export type ThreadKey = {readonly key: string} | {readonly why: string};

export interface ThreadCall {
  readonly id: number;
  readonly operation: Operation;
  readonly params: Params;
}

/** Calls to make now. */
export type ThreadCalls = readonly ThreadCall[];

/** What a thread tells: that it can be used, that its key is not accepted, what became of calls, and an answer nobody asked for. */
export type ThreadNews =
  | {readonly kind: 'ready' | 'unasked' | 'key'}
  | {readonly kind: 'answers'; readonly answers: readonly (readonly [id: number, attempt: Attempt])[]};

import type {Operation} from '../../operations/table.ts';
import type {Attempt} from '../attempt.ts';
import type {ClientOptions, Params} from '../client.ts';

/** What a thread is started with. */
export interface ThreadData extends Omit<ClientOptions, 'unasked' | 'readKeyAgain'> {
  /** Whether the key can be read again, which is done outside. */
  readonly keyMayChange: boolean;
  /** Whether an answer came that nobody had asked for. */
  readonly isUnasked: boolean;
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

/** What a thread is told. */
export type ThreadOrder = ThreadCalls | ThreadKey | 'unasked';

/** What a thread tells: that it can be used, that its key is not accepted, what became of calls, and an answer nobody asked for. */
export type ThreadNews =
  | {readonly kind: 'ready' | 'unasked'}
  | {readonly kind: 'key'; readonly rejected: string}
  | {readonly kind: 'answers'; readonly answers: readonly (readonly [id: number, attempt: Attempt])[]};

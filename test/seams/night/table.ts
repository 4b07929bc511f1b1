/** A night: in nights.txt, what is between its name and its result. */
export interface Night {
  /** Values by their letters, in the order of rows; `-` is an empty cell, a longer word stands for itself. */
  readonly list: string;
  readonly column?: 'ip' | 'email' | 'token';
  /**
   * For each value the service's replies, in their order (`*`: in one order for all others together): a status, with a code behind `=` and Retry-After behind a
   * slash; `ok`, with its seconds behind a slash; `quotaN`, an answer with N calls left for the seconds behind its slash;
   * `reset`, `late`, `refuse` (no connection), `garbled`, `stale` (401, `invalid_token`). Then all is `ok`.
   */
  readonly script?: string;
  /** Calls that the service lets through in a second; it answers the others with 429 and `Retry-After: 1`. */
  readonly limit?: number;
  readonly settings?: object;
  /** One session if left out. */
  readonly sessions?: readonly Session[];
}

/** The same command again, at times with another list or other settings. */
export interface Session {
  readonly list?: string;
  readonly column?: 'ip' | 'email' | 'token';
  readonly output?: string;
  readonly settings?: object;
  readonly afterHours?: number;
  /** Killed when its n-th call leaves: `before` (it is reserved only), or `after` (it is in flight). */
  readonly kill?: readonly ['before' | 'after', number];
}

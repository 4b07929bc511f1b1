/** Headers of a response. Those about pace are not checked: they may contain anything. */
export interface PaceHeaders {
  readonly retryAfter?: string | undefined;
  /** The response's own clock, against which dates in the other headers are measured. */
  readonly date?: string | undefined;
  /** `RateLimit`, `RateLimit-Policy`, `RateLimit-*` and `X-RateLimit-*`, by lower-case name. */
  readonly limits: Readonly<Record<string, string>>;
  /** The service's identifier of the request, if it gives one. */
  readonly requestId?: string;
}

/** Parts of any response. */
export interface Responded {
  readonly status: number;
  readonly latencyMs: number;
  readonly pace: PaceHeaders;
}

/** An answer, with the response's data checked against the service's documented interface. */
export interface Answered extends Responded {
  readonly kind: 'answered';
  /** Known fields in the interface's types, and unknown fields as they came. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The whole answer as JSON. Set only if `data` loses a spelling (1.10, 1e400) or a field of a wrong type. */
  readonly exact?: string;
  /** Dotted names of fields that the interface does not know. */
  readonly unknownFields: readonly string[];
  /** Dotted names of known fields of a wrong type, which are not in `data`. */
  readonly wrongTypes: readonly string[];
  /** Set if the answer has none of the fields that the default rules read of its operation. */
  readonly lacksSignals?: true;
  /** Set if the answer repeats the value in a form that this process never sent. */
  readonly isOtherForm?: true;
}

/** Subject of a service's code for a refusal: this `moment` (busy), the account's `quota`, or the `value`. */
export type CodeSubject = 'moment' | 'quota' | 'value';

/**
 * Result of one call. A failed call is a value, never a thrown error.
 *
 * - `not_sent`: nothing reached the service; free.
 * - `throttled`: the service asks to slow down.
 * - `ambiguous`: the call may have been carried out and charged, but no answer came.
 * - `unreadable`: the call was carried out, but the answer breaks the interface, says nothing, or is of another value.
 * - `rejected`: the service refuses this value.
 * - `fatal`: no call can succeed before a person fixes the cause.
 */
export type Attempt =
  | Answered
  | {
      readonly kind: 'not_sent';
      readonly code: string;
      readonly latencyMs: number;
      /** Set if the fleet gave the value back unsent: milliseconds for which the run then sends nothing. */
      readonly closedMs?: number;
    }
  | (Responded & {readonly kind: 'throttled'; readonly code: string})
  | {
      readonly kind: 'ambiguous';
      readonly code: string;
      readonly latencyMs: number;
      readonly status?: number;
      readonly pace?: PaceHeaders;
      /** Set if the call was lost with a fleet's worker, which is no sign of an outage. */
      readonly lost?: true;
    }
  | {
      readonly kind: 'unreadable';
      readonly code: 'bad_response';
      readonly detail: string;
      /** Set if the answer has no known field: among good answers, the service knows nothing about this value. */
      readonly saysNothing?: true;
      readonly latencyMs: number;
      /** Undefined if the bytes that came are not HTTP, so that no status could be read. */
      readonly status?: number;
      readonly pace?: PaceHeaders;
    }
  | (Responded & {
      readonly kind: 'rejected';
      readonly code: string;
      /** Subject of the refusal, by the words of the service's code. */
      readonly about: CodeSubject;
    })
  | {
      readonly kind: 'fatal';
      readonly reason:
        | 'credentials'
        | 'credits'
        | 'redirect'
        | 'certificate'
        | 'proxy'
        | 'wrong_protocol'
        | 'mixed_answers';
      readonly code: string;
      /** The time (ISO) before or after which the certificate is not valid. */
      readonly limit?: string | undefined;
      readonly latencyMs: number;
      readonly status?: number;
    };

/** A call that brought no answer. */
export type Failure = Exclude<Attempt, {kind: 'answered'}>;

/** An attempt, with the time of its end in milliseconds since the epoch: its answer, if any, was bought then. */
export type TimestampedAttempt = Attempt & {readonly boughtAt: number};

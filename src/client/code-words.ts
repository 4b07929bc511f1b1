/**
 * Subject of a service's code for a refusal, by its words: this `moment` (busy, throttling, an error of its own), the
 * account's `quota`, or the `value`.
 */
export type CodeSubject = 'moment' | 'quota' | 'value';

/** Words of values: a code with one of them is about the value, as `temporary_email`, `line_busy` and `smtp_timeout` are. */
const VALUE = /_(e_?mail|mail|mailbox|domain|mx|smtp|phone|number|line|carrier|ip|address|token)(e?s)?_/;
const QUOTA = /_(quotas?|credits?)_/;
/** Words of the moment, anywhere in a code. */
const MOMENT =
  /_(rate_?limit|throttl|overload)|_(too_many|maintenance|try_again|retry_later|internal_(server_)?error|concurrent)_/;
/** Words of the moment only beside the service, or alone. */
const SERVICE = /_(service|server|system|gateway|backend)_/;
const TROUBLE = /_(busy|unavailable|timeout|error)_/;
const ALONE = /^_(temporarily_unavailable|unavailable|busy|timeout)_$/;

/** Judges a code in any spelling: `rate_limit_exceeded`, `RateLimitExceeded`, `RATE-LIMIT-EXCEEDED`. */
export function subjectOfCode(code: string): CodeSubject {
  const cut = code.replace(/([a-z\d])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$2_');
  const words = `_${cut
    .toLowerCase()
    .split(/[^a-z\d]+/)
    .filter(Boolean)
    .join('_')}_`;
  if (VALUE.test(words)) return 'value';
  if (QUOTA.test(words)) return 'quota';
  const isTrouble = SERVICE.test(words) && TROUBLE.test(words);
  return isTrouble || MOMENT.test(words) || ALONE.test(words) ? 'moment' : 'value';
}

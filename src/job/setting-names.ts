/** `maxCredits` → `max-credits` with `-` (flags), `max_credits` with `_` (job files). */
export function spelled(name: string, joiner: '-' | '_'): string {
  return name.replace(/[A-Z]/g, letter => `${joiner}${letter.toLowerCase()}`);
}

/** `max-credits` (flags) or `max_credits` (job files) → `maxCredits` (code). */
export function camelCase(key: string): string {
  return key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

/** Removed settings by their names in the schema, with what to write now. */
const formerSettings: Readonly<Record<string, string>> = {
  throttledCharge: 'Write cost: {throttled: maybe} (--cost throttled=maybe).',
  rejectedCharge: 'Write cost: {rejected: free} (--cost rejected=free).',
  driftThreshold: 'Write the share as drift: 10%, or fail 10% (--drift "fail 10%").',
  maxDuration: 'Write until: 2h (--until 2h), which counts from the start of the command.',
  maxResends: 'Write resends: N (--resends N).',
  maxAttempts: 'Write resends: N (--resends N), which is one less.',
  resend: 'Write resends: 0 (--resends 0) for never, and nothing for always.',
  onBudget: 'Write publish_on: [budget] (--publish-on budget) for publish, and nothing for stop.',
  onOutage: 'Write publish_on: [outage] (--publish-on outage) for publish, and nothing for stop.',
  onDeadline: 'Write publish_on: [deadline] (--publish-on deadline) for publish, and nothing for stop.',
  freshBudget: 'Write restart: fresh (--restart fresh).',
  onStaleState:
    'Write restart: false for stop in a job file, and nothing for restart. A command stops unless it has --restart.',
  token: 'Write verdict: COLUMN (--verdict COLUMN).',
  actionId:
    'Write verdict: {token: COLUMN, action: ID} (--verdict token=COLUMN,action=ID), or set BULK_ENRICH_ACTION_ID. The command verify has --action ID.',
  verdictId: 'Write verdict: {token: COLUMN, id: COLUMN} (--verdict token=COLUMN,id=COLUMN).',
  verdictEmail: 'Write verdict: {token: COLUMN, email: COLUMN} (--verdict token=COLUMN,email=COLUMN).',
  verdictPhone: 'Write verdict: {token: COLUMN, phone: COLUMN} (--verdict token=COLUMN,phone=COLUMN).',
  logLevel: 'Write log: debug (--log debug), or with a format log: [json, debug] (--log json,debug).',
  logFormat: 'Write log: json (--log json).',
  cache: 'Write store: DIR, or store: false (--store DIR, --no-store).',
  threads:
    'Leave it out: one process makes 3,500 to 5,000 calls a second. For more, run parts of the list on several machines.',
  maxCreditsPerDay:
    'A day has one limit for all runs of an account: write max_credits_per_day below the endpoint in a file for the account, such as ~/.config/bulk-enrich/accounts/main.yaml.',
};

/** Advice for a removed setting: what to write now. Undefined for any other name. */
export function sinceRemoved(name: string): string | undefined {
  return Object.hasOwn(formerSettings, name) ? formerSettings[name] : undefined;
}

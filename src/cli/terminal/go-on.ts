import {exitCodes} from '../../errors.ts';
import type {Job} from '../../job/job.ts';
import type {RunOutcome} from '../../run/run-outcome.ts';
import type {Stop} from '../../run/stop.ts';
import {shellWord} from './lines.ts';

/** What has to be done first, where the very same command would end the same way. */
const FIRST: Readonly<Record<number, string>> = {
  [exitCodes.credentials]: ', with a key that is accepted',
  [exitCodes.credits]: ', with credits in the account',
  [exitCodes.output]: ', once that is put right',
};

export interface GoOn {
  readonly command: string;
  /** What has to be done first, to follow "To go on". */
  readonly first: string;
}

/** The command that goes on where this run stopped; undefined where no command does, as the input or the settings are at fault. */
export function goOn(
  {output, date, settings}: Pick<Job, 'output' | 'date' | 'settings'>,
  {exitCode}: Pick<RunOutcome, 'exitCode'>,
  stop: Stop,
  given: readonly string[] = process.argv.slice(2),
): GoOn | undefined {
  if (!output.lasts || exitCode === exitCodes.usage) return undefined;
  const command = (limit?: Limit) => commandLine(given, date, limit);
  const own = {budget: 'maxCredits', max_errors: 'maxErrors', max_rejects: 'maxRejects'} as const;
  // A budget that comes back by itself is another's: the day's, or the account's.
  const name = stop.comeBackMs === undefined ? own[stop.reason as keyof typeof own] : undefined;
  const limit = name && raised(settings[name]);
  if (name !== undefined && limit !== undefined)
    return {command: command({flag: flagOf[name], value: limit}), first: ''};
  if (exitCode === exitCodes.input || exitCode === exitCodes.state || exitCode === exitCodes.limit)
    return undefined;
  return {command: command(), first: stop.comeBackMs === undefined ? (FIRST[exitCode] ?? '') : ''};
}

const flagOf = {maxCredits: '--max-credits', maxErrors: '--max-errors', maxRejects: '--max-rejects'} as const;

/** Twice the limit that was reached, for somebody to think about. */
function raised(limit: number | {count: number} | {share: number} | undefined): string | undefined {
  if (limit === undefined) return undefined;
  if (typeof limit === 'number') return String(Math.max(1, 2 * limit));
  if ('count' in limit) return String(Math.max(1, 2 * limit.count));
  return `${Math.min(100, Math.max(1, Math.round(200 * limit.share)))}%`;
}

interface Limit {
  readonly flag: string;
  readonly value: string;
}

/** The very command that was given, quoted for a shell; a day that is not today's tomorrow is named. */
function commandLine(given: readonly string[], date: string | undefined, limit: Limit | undefined): string {
  const kept = given.filter(
    (word, at) =>
      !['--restart', '--fresh-budget'].includes(word) &&
      (limit === undefined ||
        !(word === limit.flag || word.startsWith(`${limit.flag}=`) || given[at - 1] === limit.flag)),
  );
  if (date !== undefined && !kept.includes('--date')) kept.push('--date', date);
  if (limit !== undefined) kept.push(limit.flag, limit.value);
  return ['bulk-enrich', ...kept.map(shellWord)].join(' ');
}

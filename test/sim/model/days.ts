import {join} from 'node:path';
import {endCodes} from '../../../src/error-codes.ts';
import type {Summary} from '../../../src/report/summary.ts';
import type {Inode} from '../world/disk.ts';
import type {End, Ended} from './ended.ts';
import {statePath} from './places.ts';
import type {Report} from './report.ts';

/** A command with a file for each day: it finishes the runs of earlier days, then it has its own. */

function ledgerOf({process, spec}: Pick<Ended, 'process' | 'spec'>): Inode | undefined {
  return process.ledgers.get(join(statePath(spec), 'ledger.db'));
}

/** The command's run of its own day. */
export function ofToday(whole: Ended): Ended {
  return {...whole, ...ofItsOwn(whole, whole.ledger && ledgerOf(whole))};
}

function ofItsOwn({calls}: Ended, ledger: Inode | undefined): Pick<Ended, 'ledger' | 'calls'> {
  return {ledger, calls: calls.filter(call => ledger !== undefined && call.ledger === ledger)};
}

/** The runs of earlier days that it has begun to finish, in their order: all that can be seen of them are files and warnings. */
export function earlierDays(whole: Ended, {days}: Report): Ended[] {
  return days.flatMap(({date, job}) => {
    const {warnings, process} = whole;
    if (
      !warnings.some(sentence =>
        sentence.startsWith(`The run of ${date} was interrupted, so it is finished first`),
      )
    )
      return [];
    // A restart is of the night's own run.
    const spec = {...whole.spec, day: date, restart: false, freshBudget: false};
    const summary = newSummary(whole, job.paths.summary);
    const of = `The run of ${date}: `;
    // A power cut may undo a run of which a warning has told already.
    const told = process.killed ? undefined : warnings.find(sentence => sentence.startsWith(of));
    const said = told?.slice(of.length);
    const end = endOf(said);
    const ledger = end === 'complete' || end === 'unpublished' ? undefined : ledgerOf({process, spec});
    return {
      ...whole,
      ...ofItsOwn(whole, ledger),
      spec,
      job,
      end,
      isOfEarlierDay: true,
      message: said ?? '',
      code: said === undefined ? undefined : summary?.exit_code,
      error: undefined,
      stop: end === 'stopped' ? (summary?.reason ?? 'refused to begin') : undefined,
      summary: said === undefined || (end === 'stopped' && !hasBegun(summary)) ? undefined : summary,
    };
  });
}

/** False for a run that was refused before it began, such as by another list: its summary is of the session before. */
function hasBegun(summary: Summary | undefined): boolean {
  return summary !== undefined && summary.reason in endCodes;
}

/** The summary that the command has put there. */
function newSummary({before, after}: Ended, path: string | undefined): Summary | undefined {
  const text = path === undefined ? undefined : after.get(path);
  if (path === undefined || text === undefined || before.get(path)?.equals(text) === true) return undefined;
  return JSON.parse(text.toString()) as Summary;
}

function endOf(said: string | undefined): End {
  if (said === undefined) return 'killed';
  if (said.includes('To finish it, run the same command with --date')) return 'stopped';
  if (said.startsWith('The last run wrote its ')) return 'unpublished';
  return said.includes(' is complete (') ? 'complete' : 'wrote';
}

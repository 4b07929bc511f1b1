import {refusePath} from '../../enriched/diff.ts';
import {scoreAgain} from '../../enriched/score-again.ts';
import {UsageError} from '../../errors.ts';
import {loadRules} from '../../score/rules.ts';
import {many} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {changeTable} from './change-table.ts';

interface ScoreFlags {
  readonly rules: string;
  readonly now?: string;
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `bulk-enrich score OUTPUT --rules FILE`: scores the rows of an output by other rules, without a call. */
export async function scoreCommand(path: string, flags: ScoreFlags): Promise<number> {
  const {output: to, force = false, json = false} = flags;
  refusePath(to, [path, flags.rules], force);
  const rules = loadRules(flags.rules, () => '--rules');
  if (rules === undefined)
    throw new UsageError('score_rules', '--rules none gives no score. Name a rules file, or default.');
  const changes = await scoreAgain({path, rules, now: momentOf(flags.now), to});
  if (json) printJson(changes);
  else print('stdout', `${changeTable(changes, [path, to ?? flags.rules])}\n`);
  if (to !== undefined) print('stderr', `${many(changes.rows.new, 'row')} written to ${to}.\n`);
  return 0;
}

function momentOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : Date.parse(text);
  if (Number.isNaN(ms))
    throw new UsageError('settings', '--now: expected a time such as 2026-01-31T02:00:00Z.');
  return ms;
}

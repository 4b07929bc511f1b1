import {UsageError} from '../../errors.ts';
import {refusePath} from '../../output/earlier/diff.ts';
import {scoreAgain} from '../../output/earlier/score-again.ts';
import type {BadRows} from '../../report/changes.ts';
import {percent} from '../../report/format.ts';
import {loadRules} from '../../score/rules.ts';
import {count, many} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';
import {changeTable} from './change-table.ts';

interface ScoreFlags {
  readonly rules: string;
  readonly now?: string;
  readonly bad?: string;
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
  const changes = await scoreAgain({path, rules, now: momentOf(flags.now), to, bad: flags.bad});
  if (json) printJson(changes);
  else {
    const bad = changes.bad_rows === undefined ? '' : `\n${badTable(changes.bad_rows)}\n`;
    print('stdout', `${changeTable(changes, [path, to ?? flags.rules])}\n${bad}`);
  }
  if (to !== undefined) print('stderr', `${many(changes.rows.new, 'row')} written to ${to}.\n`);
  return 0;
}

/** Levels and rules with their share of the bad rows and of the others. */
function badTable({rows, levels, reasons}: BadRows): string {
  const lines = [...levels, ...reasons].map(({name, bad, others, times}) => [
    name,
    count(bad),
    count(others),
    percent(bad, rows.bad),
    percent(others, rows.others),
    times === null ? 'too few' : `${times.toFixed(1)} ×`,
  ]);
  const head = ['', 'bad', 'others', 'of bad', 'of others', 'likelier'];
  const [first, ...rest] = table([head, ...lines]).split('\n');
  const byLevel = rest.slice(0, levels.length);
  const title = `${many(rows.bad, 'bad row')}, ${count(rows.others)} others:`;
  return [title, '', first, ...byLevel, '', ...rest.slice(levels.length)].join('\n');
}

function momentOf(text: string | undefined): number | undefined {
  const ms = text === undefined ? undefined : Date.parse(text);
  if (Number.isNaN(ms))
    throw new UsageError('settings', '--now: expected a time such as 2026-01-31T02:00:00Z.');
  return ms;
}

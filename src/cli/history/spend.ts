import {csvTable} from '../../output/csv-table.ts';
import {type Grouping, type Spend, spendOf} from '../../report/spend.ts';
import {count, many} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';
import {type ListingFlags, recordsSince, sinceOf} from './since.ts';

/** `bulk-enrich spend`: what calls have cost, by day, job or operation. */
export async function spendCommand(flags: ListingFlags & {readonly by: Grouping}): Promise<number> {
  const since = sinceOf(flags);
  // The embedded service charges nothing.
  const paid = recordsSince(since).filter(({account}) => account.endpoint !== 'embedded');
  const spend = spendOf(paid, new Date(since).toISOString(), flags.by);
  if (flags.json === true) printJson(spend);
  else print('stdout', flags.csv === true ? asCsv(spend) : render(spend, flags.since));
  return 0;
}

/** The longest bar, in characters. */
const BAR = 40;

function render({by, groups, total}: Spend, since: string): string {
  if (total.runs === 0) return `No run of a service that charges has ended in the last ${since}.\n`;
  const most = Math.max(...groups.map(creditsOf));
  const lines = groups.map(group => {
    const {name, spent, maybe_spent: maybe, calls, runs} = group;
    return [name, ...[spent, maybe, calls, runs].map(count), barOf(creditsOf(group), most)];
  });
  const widest = Math.max(...lines.map(line => line.at(-1)?.length ?? 0));
  const padded = lines.map(line => [...line.slice(0, -1), (line.at(-1) ?? '').padEnd(widest)]);
  return `${table([[by, 'credits', 'maybe', 'calls', 'runs', ''], ...padded])}

${many(total.spent, 'credit')} spent${total.maybe_spent === 0 ? '' : ` and ${count(total.maybe_spent)} perhaps`} in the last ${since}, by ${many(total.calls, 'call')} of ${many(total.runs, 'run')}.
`;
}

function creditsOf({spent, maybe_spent: maybe}: Spend['groups'][number]): number {
  return spent + maybe;
}

/** What is more than nothing is seen. */
function barOf(value: number, most: number): string {
  if (value <= 0) return '';
  const eighths = Math.max(1, Math.round((value / most) * BAR * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8] ?? '');
}

function asCsv({by, groups}: Spend): string {
  return csvTable(
    [by, 'runs', 'calls', 'credits_spent', 'credits_maybe_spent'],
    groups.map(({name, runs, calls, spent, maybe_spent}) => [name, runs, calls, spent, maybe_spent]),
  );
}

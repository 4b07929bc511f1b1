import {csvTable} from '../../output/csv-line.ts';
import {amountOf} from '../../report/money.ts';
import {type Grouping, type Spend, spendOf} from '../../report/spend.ts';
import {count, many, shownWidth, widthOf} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {table} from '../terminal/table.ts';
import {type ListingFlags, recordsSince, sinceOf} from './since.ts';

/** `bulk-enrich spend`: shows what calls have cost, by day, job or operation. */
export async function spendCommand(flags: ListingFlags & {readonly by: Grouping}): Promise<number> {
  const since = sinceOf(flags);
  // The embedded service charges nothing, so its runs are left out.
  const paid = recordsSince(since).filter(({account}) => account.endpoint !== 'embedded');
  const spend = spendOf(paid, new Date(since).toISOString(), flags.by);
  if (flags.json === true) printJson(spend);
  else print('stdout', flags.csv === true ? asCsv(spend) : render(spend, flags.since));
  return 0;
}

/** Lengths of bars in characters: the maximum, and the minimum that is useful. */
const BARS = {longest: 40, shortest: 8} as const;

function render({by, groups, total}: Spend, since: string): string {
  if (total.runs === 0) return `No run of a service that charges has ended in the last ${since}.\n`;
  const most = Math.max(...groups.map(creditsOf));
  const isPriced = Object.keys(total.money).length > 0;
  const figures = table([
    [by, 'credits', ...(isPriced ? ['money'] : []), 'maybe', 'calls', 'runs'],
    ...groups.map(({name, spent, money, maybe_spent: maybe, calls, runs}) => [
      name,
      count(spent),
      ...(isPriced ? [amounts(money)] : []),
      ...[maybe, calls, runs].map(count),
    ]),
  ]).split('\n');
  const room = widthOf('stdout') - shownWidth(figures[0] ?? '') - 2;
  const longest = Math.max(BARS.shortest, Math.min(BARS.longest, room));
  const bars = ['', ...groups.map(group => barOf(creditsOf(group) / most, longest))];
  const lines = figures.map((line, at) => `${line}  ${bars[at] ?? ''}`.trimEnd());
  return `${lines.join('\n')}

${many(total.spent, 'credit')}${isPriced ? ` (${amounts(total.money)})` : ''} spent${total.maybe_spent === 0 ? '' : ` and ${count(total.maybe_spent)} perhaps`} in the last ${since}, by ${many(total.calls, 'call')} of ${many(total.runs, 'run')}.
`;
}

/** Amounts of several currencies in one text: `12.40 EUR + 3.10 USD`. */
function amounts(money: Spend['total']['money']): string {
  return Object.entries(money)
    .map(([currency, amount]) => amountOf(amount, currency))
    .join(' + ');
}

function creditsOf({spent, maybe_spent: maybe}: Spend['groups'][number]): number {
  return spent + maybe;
}

/** A share as a bar. Any share above 0 gets at least an eighth of a character. */
function barOf(share: number, longest: number): string {
  if (!(share > 0)) return '';
  const eighths = Math.max(1, Math.round(share * longest * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8] ?? '');
}

function asCsv({by, groups}: Spend): string {
  return csvTable(
    [by, 'runs', 'calls', 'credits_spent', 'credits_maybe_spent', 'money'],
    groups.map(({name, runs, calls, spent, maybe_spent, money}) => [
      ...[name, runs, calls, spent, maybe_spent],
      amounts(money),
    ]),
  );
}

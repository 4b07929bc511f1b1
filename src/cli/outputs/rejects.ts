import {many} from '../../report/format.ts';
import {rejectedList} from '../../run/end/rejected-list.ts';
import {withoutCommands} from '../github.ts';
import {print, printRows} from '../terminal/printable.ts';

/** `bulk-enrich rejects FILE`: prints the rows that could not be read. */
export async function rejectsCommand(path: string): Promise<number> {
  const {bytes, cut} = await rejectedList(path);
  await withoutCommands(true, async () => printRows(bytes));
  if (cut > 0) print('stderr', `${many(cut, 'row')} left out: too long to be kept whole.\n`);
  return 0;
}

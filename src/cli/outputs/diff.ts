import {diffOutputs, refusePath} from '../../output/earlier/diff.ts';
import {many} from '../terminal/lines.ts';
import {print, printJson} from '../terminal/printable.ts';
import {changeTable} from './change-table.ts';

interface DiffFlags {
  readonly key?: readonly string[];
  readonly output?: string;
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `bulk-enrich diff OLD NEW`: shows the changes between two outputs. */
export async function diffCommand(old: string, fresh: string, flags: DiffFlags): Promise<number> {
  const {key, output: to, force = false, json = false} = flags;
  refusePath(to, [old, fresh], force);
  const changes = await diffOutputs({old, new: fresh, key, to});
  if (json) printJson(changes);
  else print('stdout', `${changeTable(changes, [old, fresh])}\n`);
  if (to !== undefined)
    print(
      'stderr',
      `${many(changes.new + changes.changed + changes.without_key.new, 'row')} written to ${to}.\n`,
    );
  return 0;
}

import {basename, dirname} from 'node:path';
import type {HistoryEntry} from '../../../src/ledger/history.ts';
import {merged, type RunRecord} from '../../../src/report/run-record.ts';
import type {Databases} from '../world/databases.ts';
import type {Disk} from '../world/disk.ts';
import {historyPath, waitingPath} from './places.ts';

/** The history's lines by their sessions, with those that wait for it. */
export function historyOf({files}: Disk, databases: Databases): ReadonlyMap<string, RunRecord> {
  const inode = files.get(historyPath);
  const known = inode && databases.contents(inode, historyPath).real;
  // One whose run was killed early has no table yet.
  const tables = known?.prepare("SELECT 1 FROM sqlite_master WHERE name = 'run'").all([]) ?? [];
  const rows = known && tables.length > 0 ? known.prepare('SELECT bill, line FROM run').all([]) : [];
  const lines = new Map(rows.map(({bill, line}) => [String(bill), JSON.parse(String(line)) as RunRecord]));
  for (const [path, {data}] of files) {
    if (dirname(path) !== waitingPath || basename(path).startsWith('.')) continue;
    for (const {bill, line} of JSON.parse(data.toString()) as HistoryEntry[]) {
      const told = JSON.parse(line) as RunRecord;
      const before = lines.get(bill);
      lines.set(bill, before === undefined ? told : merged(before, told));
    }
  }
  return lines;
}

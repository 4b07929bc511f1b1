import {lchownSync} from 'node:fs';
import {vi} from 'vitest';

const ANOTHER = (process.geteuid?.() ?? 0) + 1_234;

/** Does `work` while a path is another user's: root gives it away for good, anyone else passes for another meanwhile. */
export async function whileAnothers<T>(path: string, work: () => T | Promise<T>): Promise<T> {
  const isRoot = process.geteuid?.() === 0;
  if (isRoot) lchownSync(path, ANOTHER, ANOTHER);
  const spy = isRoot ? undefined : vi.spyOn(process, 'geteuid').mockReturnValue(ANOTHER);
  try {
    return await work();
  } finally {
    spy?.mockRestore();
  }
}

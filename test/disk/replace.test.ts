import {execFileSync} from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {dirname} from 'node:path';
import {expect, test} from 'vitest';
import {moveAtomically, replaceFile, temporaryPathBeside, writeAtomically} from '../../src/disk/replace.ts';
import {newDirectory} from '../support/new-directory.ts';
import {whileAnothers} from '../support/other-user.ts';
import {withFs} from '../support/with-fs.ts';

const at = newDirectory();

/** Both ways to put a file in place; the second is that of an output. */
const ways: readonly (readonly [string, (path: string, text: string) => void])[] = [
  ['written', writeAtomically],
  ['moved', moved],
];

function moved(path: string, text: string): void {
  const from = at('partial');
  writeFileSync(from, text, {mode: 0o600});
  moveAtomically(from, path);
}

test.each(ways)('a file that is %s has the mode of the file before, else that of a new file', (_, put) => {
  const path = at('out.csv');
  put(path, 'new');
  expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
  chmodSync(path, 0o640);
  put(path, 'newer');
  expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual(['newer', 0o640]);
  expect(readdirSync(at())).toEqual(['out.csv']);
});

test.each(ways)('a file that is %s to a link replaces the file that the link leads to', (_, put) => {
  mkdirSync(at('real'));
  const [link, target] = [at('latest.csv'), at('real', 'out.csv')];
  symlinkSync('real/out.csv', link);
  for (const text of ['new', 'newer']) {
    put(link, text);
    expect([readlinkSync(link), readFileSync(target, 'utf8')]).toEqual(['real/out.csv', text]);
  }
  // The file in the way is on the same disk.
  expect(dirname(temporaryPathBeside(link))).toBe(dirname(target));
  expect(readdirSync(at()).sort()).toEqual(['latest.csv', 'real']);
  expect(readdirSync(dirname(target))).toEqual(['out.csv']);
});

test.each(ways)('the name of a file that is %s is durable once it is done', async (_, put) => {
  const path = at('out.csv');
  put(path, 'old');
  const steps: string[] = [];
  await withFs(
    real => ({
      renameSync(from, to) {
        real.renameSync(from, to);
        steps.push(`rename ${to}`);
      },
      fsyncSync(fd) {
        real.fsyncSync(fd);
        steps.push(`sync ${readlinkSync(`/proc/self/fd/${fd}`)}`);
      },
    }),
    async () => put(path, 'new'),
  );
  expect(steps.slice(-2)).toEqual([`rename ${path}`, `sync ${at()}`]);
});

test.each(ways)('a file is never %s in the place of a directory or a named pipe', (_, put) => {
  const [directory, pipe] = [at('d'), at('p')];
  mkdirSync(directory);
  execFileSync('mkfifo', [pipe]);
  expect(() => put(directory, 'new')).toThrow(/d can't be written .*is a directory/);
  expect(() => put(pipe, 'new')).toThrow(/p can't be written .*is a named pipe/);
  expect([readdirSync(directory), statSync(pipe).isFIFO()]).toEqual([[], true]);
});

test.each(ways)(
  "another user's file decides neither mode nor owner of what replaces it: %s",
  async (_, put) => {
    const path = at('out.csv');
    writeFileSync(path, 'old');
    chmodSync(path, 0o666);
    const before = process.umask(0o077);
    try {
      await whileAnothers(path, () => put(path, 'new'));
    } finally {
      process.umask(before);
    }
    const {mode, uid} = statSync(path);
    expect([mode & 0o777, uid, readFileSync(path, 'utf8')]).toEqual([0o600, process.geteuid?.(), 'new']);
  },
);

test('what can’t be written leaves the file before, and nothing beside it', () => {
  const path = at('out.csv');
  writeAtomically(path, 'old');
  expect(() => replaceFile(path, {} as never)).toThrow('must be of type string');
  expect([readdirSync(at()), readFileSync(path, 'utf8')]).toEqual([['out.csv'], 'old']);
});

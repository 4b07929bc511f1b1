import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import {join} from 'node:path';
import {beforeEach, describe, expect, test} from 'vitest';
import {
  checkWritable,
  makeDirectory,
  makePrivateDirectory,
  nearestExistingPath,
  userDirectory,
} from '../../src/disk/directory.ts';
import {orThrowTemporaryUnwritable, temporaryDirectory} from '../../src/disk/temporary.ts';
import {newDirectory} from '../support/new-directory.ts';

const at = newDirectory();
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('a directory is made with its parents, for its owner alone; the topmost new one is told', () => {
  expect(makeDirectory(at('a', 'b', 'c'))).toBe(at('a'));
  expect([at('a'), at('a', 'b'), at('a', 'b', 'c')].map(modeOf)).toEqual(['700', '700', '700']);
  expect(makeDirectory(at('a', 'b', 'd'))).toBe(at('a', 'b', 'd'));
  expect(makeDirectory(at('a', 'b', 'd'))).toBeUndefined();
  writeFileSync(at('file'), '');
  expect(() => makeDirectory(at('file'))).toThrow('EEXIST');
  expect(() => makeDirectory(at('file', 'below'))).toThrow('ENOTDIR');
});

describe.skipIf(process.geteuid === undefined)('a private directory that others can write to', () => {
  const [own, elsewhere] = [() => at('out.csv.run'), () => at('elsewhere')];
  const refused = (mode: string) =>
    expect.objectContaining({code: 'state_not_private', message: expect.stringContaining(`mode ${mode}`)});
  beforeEach(() => {
    mkdirSync(own());
    writeFileSync(join(own(), 'ledger.db'), '');
    writeFileSync(elsewhere(), '');
  });

  test.each([0o770, 0o707, 0o2770])(
    'is closed if this program made it and all in it is its own: %i',
    mode => {
      chmodSync(own(), mode);
      expect(makePrivateDirectory(own(), true)).toBeUndefined();
      expect([modeOf(own()), readdirSync(own())]).toEqual(['700', ['ledger.db']]);
    },
  );

  test('is refused if the user named it', () => {
    chmodSync(own(), 0o770);
    expect(() => makePrivateDirectory(own(), false)).toThrow(refused('770'));
    expect(modeOf(own())).toBe('770');
  });

  test.each([
    ['a directory', (path: string) => mkdirSync(path)],
    ['a link', (path: string) => symlinkSync(elsewhere(), path)],
    ['a second name of a file elsewhere', (path: string) => linkSync(elsewhere(), path)],
  ])('is refused if it holds %s', (_, put) => {
    put(join(own(), 'put'));
    chmodSync(own(), 0o770);
    expect(() => makePrivateDirectory(own(), true)).toThrow(refused('770'));
    expect(readdirSync(own()).sort()).toEqual(['ledger.db', 'put']);
  });

  test.each([true, false])('is refused as a link, ours: %s', ours => {
    symlinkSync(own(), at('link'));
    expect(() => makePrivateDirectory(at('link'), ours)).toThrow(/is a symbolic link/);
  });

  test('is used as it is if others can only read it', () => {
    chmodSync(own(), 0o755);
    expect(makePrivateDirectory(own(), false)).toBeUndefined();
    expect(modeOf(own())).toBe('755');
  });
});

test('a path is checked by its nearest part that exists, and nothing is made for that', () => {
  writeFileSync(at('file'), '');
  for (const path of [at(), at('file'), at('new'), at('new', 'deep', 'er')]) checkWritable(path);
  expect(() => checkWritable(at('file', 'below'))).toThrow(expect.objectContaining({code: 'ENOTDIR'}));
  expect(nearestExistingPath(at('new', 'deep'))).toBe(at());
  expect(readdirSync(at())).toEqual(['file']);
});

test('a relative or empty directory in the environment is ignored, as the XDG specification says', () => {
  const local = at('.local', 'state', 'bulk-enrich');
  for (const XDG_STATE_HOME of ['state', './state', '', undefined])
    expect(userDirectory('state', {HOME: at(), XDG_STATE_HOME}, 'linux')).toBe(local);
  expect(() => userDirectory('state', {HOME: at('none')}, 'linux')).toThrow('does not exist');
});

test('a temporary directory goes with its content when it is removed, and leaves the process nothing to do at its end', () => {
  const before = process.listenerCount('exit');
  const {path, remove} = temporaryDirectory();
  writeFileSync(join(path, 'file'), '');
  // All temporary directories of the process share one listener.
  expect([before, before + 1]).toContain(process.listenerCount('exit'));
  for (const _ of [1, 2]) remove();
  expect([existsSync(path), process.listenerCount('exit')]).toEqual([false, before]);
  // An error that has nothing to do with the disk is not blamed on it.
  const fault = new TypeError('mine');
  const work = () => {
    throw fault;
  };
  expect(() => orThrowTemporaryUnwritable(work)).toThrow(fault);
});

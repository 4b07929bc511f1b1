import {readdirSync, readFileSync} from 'node:fs';
import {posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

/** The rooms of src, from the ground up: a room imports from rooms before it, and from the files at the top. */
const rooms = [
  'operations',
  'disk',
  'job',
  'client',
  'ledger',
  'input',
  'lookup',
  'report',
  'columns',
  'score',
  'service',
  'output',
  'fleet',
  'run',
  'library',
  'cli',
];

/** The files by which other rooms enter a room, where that is not all of it. */
const doors: Readonly<Record<string, readonly string[]>> = {
  service: ['service/start.ts', 'service/data/packed-data.ts'],
  fleet: [
    'fleet/fleet.ts',
    'fleet/redis.ts',
    'fleet/roster.ts',
    'fleet/status.ts',
    'fleet/protocol.ts',
    'fleet/worker/metrics.ts',
    'fleet/worker/worker.ts',
  ],
};

/** Rooms that a room does without, though they are below it: the embedded service is no part of what asks it. */
const strangers: Readonly<Record<string, readonly string[]>> = {
  service: ['client', 'ledger', 'input', 'lookup', 'report', 'columns'],
  client: ['disk'],
};

/** Packages that have one home, or two. */
const homes: Readonly<Record<string, readonly string[]>> = {
  got: ['client'],
  libsql: ['disk'],
  bullmq: ['fleet'],
  ioredis: ['fleet'],
  'p-queue': ['fleet', 'lookup'],
  bottleneck: ['lookup'],
  'csv-stringify': ['output'],
  'csv-parse': ['input', 'operations'],
  commander: ['cli'],
  re2js: ['score'],
  hono: ['report'],
};

const src = fileURLToPath(new URL('../src/', import.meta.url));
const IMPORT = /(?:\bfrom|\bimport\()\s*'([^']+)'/g;

/** The imports of a file in src, by its path there, that the tables above do not allow. */
function refused(file: string, text: string): string[] {
  const room = file.includes('/') ? file.slice(0, file.indexOf('/')) : undefined;
  if (room === undefined) return [];
  return [...text.matchAll(IMPORT)].flatMap(([, path = '']) => {
    if (!path.startsWith('.')) {
      const home = homes[path.split('/')[0] ?? ''];
      return home === undefined || home.includes(room) ? [] : [path];
    }
    const target = posix.join(posix.dirname(file), path);
    if (['codes.json', 'errors.ts', 'sentence.ts'].includes(target)) return [];
    const [other = ''] = target.split('/');
    const may =
      other === room ||
      (rooms.includes(other) &&
        rooms.indexOf(other) < rooms.indexOf(room) &&
        doors[other]?.includes(target) !== false &&
        strangers[room]?.includes(other) !== true);
    return may ? [] : [path];
  });
}

const files = readdirSync(src, {recursive: true, encoding: 'utf8'}).filter(file => file.endsWith('.ts'));

test('rooms import one way, and packages stay at home', () => {
  const wrong = files.flatMap(file =>
    refused(file, readFileSync(src + file, 'utf8')).map(path => `src/${file} imports ${path}`),
  );
  expect(wrong).toEqual([]);
});

/** They take as long to load as Node's own start, and most commands do without them. */
const later = ['libphonenumber-js/max', 'pino', 're2js', 'string-width', 'tinyglobby', 'yaml'];

test('large packages are loaded by their first use', () => {
  const eager = files.flatMap(file =>
    [...readFileSync(src + file, 'utf8').matchAll(/^import (?!type )[^;]*? from '([^']+)';$/gm)]
      .map(([, name = '']) => `src/${file} imports ${name}`)
      .filter(line => later.some(name => line.endsWith(` ${name}`))),
  );
  // Runs that a program starts get its log, or one without output.
  expect(eager).toEqual(['src/library/run-job.ts imports pino']);
});

test('every room has its floor, and every door and home is used', () => {
  const found = new Set(files.filter(file => file.includes('/')).map(file => file.split('/')[0]));
  expect([...found].sort()).toEqual([...rooms].sort());
  const imported = files.flatMap(file =>
    [...readFileSync(src + file, 'utf8').matchAll(IMPORT)].map(([, path = '']) => ({
      room: file.split('/')[0],
      target: path.startsWith('.') ? posix.join(posix.dirname(file), path) : (path.split('/')[0] ?? ''),
    })),
  );
  const unused = [
    ...Object.entries(doors).flatMap(([room, targets]) =>
      targets.map(target => ({room, target, from: undefined})),
    ),
    ...Object.entries(homes).flatMap(([target, from]) =>
      from.map(room => ({room: undefined, target, from: room})),
    ),
  ].filter(
    one =>
      !imported.some(
        ({room, target}) =>
          target === one.target && (one.from === undefined ? room !== one.room : room === one.from),
      ),
  );
  expect(unused).toEqual([]);
});

test.each([
  ['client/x.ts', '../ledger/ledger.ts'],
  ['job/x.ts', '../client/client.ts'],
  ['run/end/x.ts', '../../cli/console.ts'],
  ['run/x.ts', '../service/app.ts'],
  ['cli/commands/x.ts', 'got'],
  ['lookup/pace/x.ts', 'libsql'],
  ['input/records/x.ts', '../../columns/targets.ts'],
  ['service/x.ts', '../client/client.ts'],
])('%s may not import %s', (file, path) => {
  expect(refused(file, `import {a} from '${path}';`)).toEqual([path]);
  expect(refused(file, `const {a} = await import('${path}');`)).toEqual([path]);
});

test('each type name is declared in one file', () => {
  const declared = new Map<string, string[]>();
  const root = fileURLToPath(new URL('../src/', import.meta.url));
  for (const file of readdirSync(root, {recursive: true, encoding: 'utf8'}).filter(name =>
    name.endsWith('.ts'),
  ))
    for (const [, name = ''] of readFileSync(root + file, 'utf8').matchAll(
      /^(?:export )?(?:abstract )?(?:interface|type|class) (\w+)/gm,
    ))
      declared.set(name, [...(declared.get(name) ?? []), file]);
  expect([...declared].filter(([, files]) => new Set(files).size > 1)).toEqual([]);
});

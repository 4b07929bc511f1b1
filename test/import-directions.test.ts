import {readdirSync, readFileSync} from 'node:fs';
import {posix} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

/** The imports that each room of src may have: whole rooms, or single files. All may import `errors.ts` and `sentence.ts`. */
const rooms: Readonly<Record<string, readonly string[]>> = {
  operations: [],
  disk: [],
  cel: [],
  job: ['disk/path.ts', 'operations'],
  client: ['job', 'operations'],
  account: ['disk', 'job'],
  ledger: ['account', 'client/attempt.ts', 'client/client.ts', 'disk', 'job', 'operations'],
  store: ['disk', 'ledger', 'operations'],
  input: ['disk', 'job', 'operations'],
  lookup: ['client', 'input/row.ts', 'job', 'ledger', 'operations', 'store'],
  score: [
    'cel',
    'disk',
    'input/row.ts',
    'job',
    'ledger/lookup.ts',
    'lookup/codes.ts',
    'lookup/plan-row.ts',
    'lookup/targets.ts',
    'operations',
  ],
  output: [
    'client/answer-fields.ts',
    'client/exact-numbers.ts',
    'disk/replace.ts',
    'input/records/json-members.ts',
    'input/row.ts',
    'job',
    'ledger/lookup.ts',
    'lookup/recent.ts',
    'lookup/targets.ts',
    'operations',
    'score/risk.ts',
  ],
  enriched: [
    ...['disk', 'input', 'job', 'lookup/plan-row.ts', 'lookup/targets.ts', 'operations', 'output', 'score'],
    'client/answer-fields.ts',
    'ledger/distinct-keys.ts',
    'ledger/ledger-file.ts',
    'ledger/lookup.ts',
    'report/changes.ts',
    'report/explanation.ts',
    'report/summary.ts',
  ],
  report: [
    'input/row.ts',
    'job/version.ts',
    'ledger/lookup.ts',
    'lookup/codes.ts',
    'lookup/pace/pause.ts',
    'operations',
  ],
  fleet: ['client', 'job', 'lookup', 'operations'],
  service: ['cel', 'disk', 'job', 'operations'],
  layout: ['input', 'job', 'ledger/lookup.ts', 'lookup', 'operations', 'output', 'report', 'score'],
  books: [
    ...['account/period-budget.ts', 'ledger', 'operations', 'output', 'report', 'score'],
    'cel/explained.ts',
    'client/redact.ts',
    'input/row.ts',
    'job/money.ts',
  ],
  run: [
    ...[
      'account',
      'books',
      'client',
      'disk',
      'enriched',
      'fleet',
      'input',
      'job',
      'layout',
      'ledger',
      'lookup',
      'operations',
      'output',
      'report',
      'score',
      'store',
    ],
    'service/data/data-version.ts',
    'service/start.ts',
  ],
  estimate: [
    ...[
      'books',
      'disk',
      'input',
      'job',
      'layout',
      'ledger',
      'lookup',
      'operations',
      'report',
      'run',
      'store',
    ],
    'score/list-facts.ts',
  ],
  library: [
    'input',
    'job',
    'layout',
    'ledger/lookup.ts',
    'lookup',
    'operations',
    'output/columns.ts',
    'report/summary.ts',
    'run',
    'score',
    'service/start.ts',
  ],
  cli: [
    ...[
      'client',
      'disk',
      'enriched',
      'estimate',
      'fleet',
      'input',
      'job',
      'layout',
      'ledger',
      'lookup',
      'operations',
      'report',
      'run',
      'store',
    ],
    'output/csv-table.ts',
    'score/conditions.ts',
    'score/given.ts',
    'score/list-facts.ts',
    'score/rule-tests.ts',
    'score/rules.ts',
    'service/start.ts',
  ],
};

/** Packages that have one home, or two. */
const homes: Readonly<Record<string, readonly string[]>> = {
  got: ['client'],
  libsql: ['disk'],
  bullmq: ['fleet'],
  ioredis: ['fleet'],
  'p-queue': ['fleet', 'lookup'],
  bottleneck: ['fleet', 'lookup'],
  'csv-parse': ['input', 'operations'],
  'csv-stringify': ['output'],
  commander: ['cli'],
  re2js: ['cel'],
  hono: ['report', 'service'],
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
    const [other = ''] = target.split('/');
    const may =
      other === room ||
      target === 'errors.ts' ||
      target === 'sentence.ts' ||
      rooms[room]?.some(one => one === other || one === target);
    return may === true ? [] : [path];
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

test('every room is in the table, and the table has no circle', () => {
  expect(
    [...new Set(files.filter(file => file.includes('/')).map(file => file.split('/')[0]))].sort(),
  ).toEqual(Object.keys(rooms).sort());
  const placed: string[] = [];
  const place = (room: string, above: readonly string[]) => {
    expect(above, `a circle by way of src/${room}`).not.toContain(room);
    if (placed.includes(room)) return;
    for (const other of rooms[room] ?? []) place(other.split('/')[0] ?? '', [...above, room]);
    placed.push(room);
  };
  for (const room of Object.keys(rooms)) place(room, []);
});

test.each([
  ['client/x.ts', '../ledger/ledger.ts'],
  ['job/x.ts', '../client/client.ts'],
  ['run/end/x.ts', '../../cli/console.ts'],
  ['run/x.ts', '../service/app.ts'],
  ['cli/commands/x.ts', 'got'],
  ['lookup/pace/x.ts', 'libsql'],
  ['input/records/x.ts', '../../lookup/targets.ts'],
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

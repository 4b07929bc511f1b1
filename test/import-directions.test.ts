import {spawnSync} from 'node:child_process';
import {copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {expect, test} from 'vitest';

const config = fileURLToPath(new URL('../biome.json', import.meta.url));
const biome = fileURLToPath(new URL('../node_modules/@biomejs/biome/bin/biome', import.meta.url));

const directions: Readonly<Record<string, {may: readonly string[]; mayNot: readonly string[]}>> = {
  cli: {
    may: ['../run/run.ts', '../service/start.ts', 'commander'],
    mayNot: ['../service/app.ts', 'got', 'libsql'],
  },
  run: {
    may: ['../lookup/plan.ts', '../ledger/ledger.ts', '../service/start.ts'],
    mayNot: ['../cli/console.ts', '../service/app.ts', 'p-queue'],
  },
  input: {
    may: ['../job/errors.ts', 'csv-parse/sync'],
    mayNot: ['../lookup/plan.ts', '../client/client.ts', '../run/run.ts', '../operations/table.ts'],
  },
  output: {
    may: ['../operations/table.ts', '../client/exact-numbers.ts', '../input/row.ts', 'csv-stringify/sync'],
    mayNot: ['../client/client.ts', '../input/source.ts', '../ledger/store.ts'],
  },
  lookup: {
    may: ['../ledger/lookup.ts', '../client/attempt.ts', '../input/row.ts', 'bottleneck'],
    mayNot: ['../output/columns.ts', '../input/source.ts', '../run/run.ts'],
  },
  fleet: {
    may: ['../lookup/policy.ts', '../client/attempt.ts', 'bullmq', 'ioredis', 'bottleneck', 'p-queue'],
    mayNot: ['../run/run.ts', '../cli/console.ts', 'got'],
  },
  disk: {
    may: ['../job/errors.ts', 'libsql', './path.ts'],
    mayNot: ['../ledger/ledger.ts', '../run/state.ts', '../job/job.ts'],
  },
  ledger: {
    may: ['../operations/table.ts', '../job/errors.ts', 'libsql'],
    mayNot: ['../lookup/policy.ts', '../run/state.ts'],
  },
  client: {
    may: ['../job/errors.ts', 'got', 'got/dist/x.js'],
    mayNot: ['../ledger/ledger.ts', '../service/start.ts', '../lookup/plan.ts'],
  },
  service: {
    may: ['../operations/table.ts', '../job/values.ts', 'hono'],
    mayNot: ['../client/client.ts', '../run/run.ts', 'got'],
  },
  job: {
    may: ['../operations/table.ts'],
    mayNot: ['../client/client.ts', '../lookup/targets.ts', 'bullmq', 'ioredis/built/x.js'],
  },
  operations: {
    may: ['zod', 'ipaddr.js', 'libphonenumber-js/min'],
    mayNot: ['../job/errors.ts', '../client/client.ts', '../lookup/plan.ts', '../service/start.ts', 'got'],
  },
};

/** Lints a file of these imports in each folder, with the project's own rules; returns the refused ones of each. */
function lint(): ReadonlyMap<string, readonly string[]> {
  const root = mkdtempSync(join(tmpdir(), 'bulk-enrich-lint-'));
  try {
    copyFileSync(config, join(root, 'biome.json'));
    for (const [folder, {may, mayNot}] of Object.entries(directions)) {
      const lines = [...may, ...mayNot].map((path, n) => `export type {a as a${n}} from '${path}';\n`);
      mkdirSync(join(root, 'src', folder), {recursive: true});
      writeFileSync(join(root, 'src', folder, 'some-file.ts'), lines.join(''));
    }
    const args = ['lint', '--reporter=github', '--vcs-enabled=false', '--max-diagnostics=none', 'src'];
    const {stdout} = spawnSync(process.execPath, [biome, ...args], {cwd: root, encoding: 'utf8'});
    const report = stdout.split('\n').filter(line => line.includes('noRestrictedImports'));
    return new Map(
      Object.entries(directions).map(([folder, {may, mayNot}]) => {
        const place = (n: number) => `/src/${folder}/some-file.ts,line=${n + 1},`;
        return [folder, [...may, ...mayNot].filter((_, n) => report.some(line => line.includes(place(n))))];
      }),
    );
  } finally {
    rmSync(root, {recursive: true, force: true});
  }
}

const refused = lint();

test.each(Object.entries(directions))('src/%s imports one way', (folder, {mayNot}) => {
  expect(refused.get(folder)).toEqual(mayNot);
});

import {defineConfig} from 'vitest/config';
import {BaseSequencer, type TestSpecification} from 'vitest/node';

// Whatever goes by local days where UTC days are meant is another day for most of the day.
process.env.TZ ??= 'Pacific/Kiritimati';

const isNode20 = process.version.startsWith('v20.');

/** By mode, the files that take longest, longest first. */
const longest: Readonly<Record<string, readonly string[]>> = {
  test: ['sim/seeds', 'seams/wire', 'seams/night', 'fleet/seams', 'run/store', 'run/changed-settings'],
  slow: [
    'crash/disk',
    'crash/kill',
    'fleet/faults',
    'fleet/fleet',
    'jobs/schedule-runs',
    'report/browser',
    'jobs/terminal',
  ],
};

/** Begins with those, so that all workers end together: a fresh clone has measured nothing yet. */
function longestFirst(names: readonly string[]): typeof BaseSequencer {
  const place = ({moduleId}: TestSpecification) => {
    const at = names.findIndex(name => moduleId.includes(`/test/${name}.`));
    return at === -1 ? names.length : at;
  };
  return class extends BaseSequencer {
    override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
      return (await super.sort(files)).sort((a, b) => place(a) - place(b));
    }
  };
}

export default defineConfig(({mode}) => ({
  test: {
    // `npm run test:slow`: the files that start most processes, and most of the machine's other programs.
    include: [mode === 'slow' ? 'test/**/*.slow.test.ts' : 'test/**/!(*.slow|*.soak).test.ts'],
    globalSetup: ['test/support/in-memory.ts', 'test/support/build.ts'],
    // A case that asserts nothing proves nothing.
    expect: {requireAssertions: true},
    // A busy machine is no fault: only what would never end is to be found by this.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: {sequencer: longestFirst(longest[mode] ?? [])},
    pool: 'forks',
    // Much of the time is waited for: two cores carry four.
    maxWorkers: 4,
    // Fewer collections of short-lived objects take 3% less of the processor's time; to optimize only what runs often
    // takes 11% less. Later lines of Node have no such flag.
    execArgv: ['--max-semi-space-size=64', ...(isNode20 ? ['--interrupt-budget=1000000'] : [])],
    // Nothing in src is global to the process, so files can share one: loading it anew for each took a sixth of the time.
    isolate: false,
    // What was transformed once is not transformed again until it changes.
    experimental: {fsModuleCache: true},
    // Concurrent cases mostly wait.
    maxConcurrency: 10,
    // A shared machine may be slow at the wrong moment: in CI a case that fails is tried once more, and both are reported.
    retry: process.env.CI === undefined ? 0 : 1,
    ...(process.env.TEST_REPORT === undefined
      ? {}
      : {reporters: ['default', ['json', {outputFile: process.env.TEST_REPORT}]]}),
  },
}));

import {defineConfig} from 'vitest/config';
import {BaseSequencer, type TestSpecification} from 'vitest/node';

// Whatever goes by local days where UTC days are meant is another day for most of the day.
process.env.TZ ??= 'Pacific/Kiritimati';

/** Those that take longest, longest first. */
const longest = [
  'sim/seeds-1',
  'sim/seeds-2',
  'fault/faults',
  'fleet/faults',
  'fleet/fleet',
  'checks',
  'jobs/terminal',
  'crash/disk',
  'report/browser',
  'docs/library',
  'jobs/environments',
  'fleet/seams',
  'run/store',
  'run/changed-settings',
];

/** Begins with those, so that all workers end together: a fresh clone has measured nothing yet. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({moduleId}: TestSpecification) => {
      const at = longest.findIndex(name => moduleId.endsWith(`/test/${name}.test.ts`));
      return at === -1 ? longest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'test/**/*.soak.test.ts'],
    globalSetup: ['test/support/in-memory.ts', 'test/support/build.ts'],
    // A busy machine is no fault: only what would never end is to be found by this.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    sequence: {sequencer: LongestFirst},
    pool: 'forks',
    // Most of the time is waited for: two cores carry three.
    maxWorkers: 3,
    // Nothing in src is global to the process, so files can share one: loading it anew for each took a sixth of the time.
    isolate: false,
    // Concurrent cases mostly wait.
    maxConcurrency: 10,
    // A shared machine may be slow at the wrong moment: in CI a case that fails is tried once more, and both are reported.
    retry: process.env.CI === undefined ? 0 : 1,
    ...(process.env.TEST_REPORT === undefined
      ? {}
      : {reporters: ['default', ['json', {outputFile: process.env.TEST_REPORT}]]}),
  },
});

import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.soak.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
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

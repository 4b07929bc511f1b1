import {defineConfig} from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/**/*.soak.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 30_000,
    hookTimeout: 30_000,
    pool: 'forks',
    maxWorkers: 2,
    // A shared machine may be slow at the wrong moment: in CI a case that fails is tried once more, and both are reported.
    retry: process.env.CI === undefined ? 0 : 1,
    ...(process.env.TEST_REPORT === undefined
      ? {}
      : {reporters: ['default', ['json', {outputFile: process.env.TEST_REPORT}]]}),
  },
});

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
    ...(process.env.TEST_REPORT === undefined
      ? {}
      : {reporters: ['default', ['json', {outputFile: process.env.TEST_REPORT}]]}),
  },
});

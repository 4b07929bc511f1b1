import {defineConfig} from 'vitest/config';

/** The long runs of the same promises: one after the other, as each of them keeps the machine busy. */
export default defineConfig({
  test: {
    include: ['test/**/*.soak.test.ts'],
    globalSetup: ['test/support/build.ts'],
    testTimeout: 3_600_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
    retry: process.env.CI === undefined ? 0 : 1,
    fileParallelism: false,
  },
});

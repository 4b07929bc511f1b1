import {defineConfig} from 'vitest/config';

/** Tests of `npm test` whose properties get all of their samples here. */
const sampled = [
  ...['service/hostile', 'lookup/rate-limit-headers', 'lookup/desk/desk', 'client/classify', 'seams/fuzz'],
  ...['property/canonical', 'property/input', 'e2e/pay-once', 'oracle/values', 'security/parsers'],
  ...['sim/seeds', 'crash/kill.slow', 'crash/budget.slow', 'crash/points.slow', 'jobs/job-runs.slow'],
];

/** The long runs of the same promises: one after the other, as each of them keeps the machine busy. */
export default defineConfig({
  test: {
    include: ['test/**/*.soak.test.ts', ...sampled.map(name => `test/${name}.test.ts`)],
    env: {SOAK: '1'},
    globalSetup: ['test/support/build.ts'],
    // In CI a soak is a short one, and one that hangs fails while there is time to say so.
    testTimeout: process.env.CI === undefined ? 3_600_000 : 300_000,
    hookTimeout: 60_000,
    pool: 'forks',
    maxWorkers: 1,
    retry: process.env.CI === undefined ? 0 : 1,
    fileParallelism: false,
  },
});

import {afterAll, expect} from 'vitest';
import {describeParsers} from './fuzz.ts';

/** A minute in CI; SOAK_FUZZ_SECONDS for longer. */
const seconds = Number(process.env.SOAK_FUZZ_SECONDS ?? 60);
const LONGEST_MS = 1_000;
const MOST_BYTES = 256 * 2 ** 20;

const before = process.memoryUsage().rss;
let longest = 0;

// Each of the parsers has a tenth of the time.
describeParsers({
  runs: 1_000_000,
  forMs: (seconds * 1_000) / 10,
  took: (ms, input) => {
    longest = Math.max(longest, ms);
    if (ms > LONGEST_MS)
      throw new Error(`took ${Math.round(ms)} ms: ${input.subarray(0, 500).toString('latin1')}`);
  },
});

afterAll(() => {
  const more = process.memoryUsage().rss - before;
  process.stderr.write(
    `longest input: ${Math.round(longest)} ms; memory: ${Math.round(more / 2 ** 20)} MB more\n`,
  );
  expect(more).toBeLessThan(MOST_BYTES);
});

import {afterAll, expect} from 'vitest';
import {describeParsers} from './fuzz.ts';

/** A minute in CI; SOAK_FUZZ_SECONDS for longer. */
const seconds = Number(process.env.SOAK_FUZZ_SECONDS ?? 60);
const LONGEST_MS = 1_000;
const MOST_BYTES = 256 * 2 ** 20;

const before = process.memoryUsage().rss;
let longest = {ms: 0, what: ''};

// Each of the parsers has a tenth of the time.
describeParsers({
  runs: 1_000_000,
  // The driver ends the process where a text in a damaged file is no UTF-8 (libsql 0.5.29): not ours to fix, and not fixed yet.
  without: ['ledgers'],
  forMs: (seconds * 1_000) / 10,
  took: (ms, parser, input) => {
    if (ms > longest.ms) longest = {ms, what: `${parser}: ${input.toString('base64').slice(0, 4_000)}`};
  },
});

afterAll(() => {
  const more = process.memoryUsage().rss - before;
  process.stderr.write(
    `longest: ${Math.round(longest.ms)} ms; memory: ${Math.round(more / 2 ** 20)} MB more\n`,
  );
  // Here and not where it happens: what goes on when its time is over is given up, and counts as passed.
  expect(longest.ms, longest.what).toBeLessThan(LONGEST_MS);
  expect(more).toBeLessThan(MOST_BYTES);
});

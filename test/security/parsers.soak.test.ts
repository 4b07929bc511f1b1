import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import {afterAll, expect} from 'vitest';
import {describeParsers} from './fuzz.ts';

/** A minute in CI; SOAK_FUZZ_SECONDS for longer. */
const seconds = Number(process.env.SOAK_FUZZ_SECONDS ?? 60);
const LONGEST_MS = 1_000;
const MOST_BYTES = 256 * 2 ** 20;

/** A database's memory is freed when its objects are collected, which thousands of them a minute outrun. */
const COLLECT_AFTER_BYTES = 32 * 2 ** 20;
setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;
let collectedAt = 0;

let longest = {ms: 0, what: ''};
/** The most that one parser took, and what the one under way began with. */
let most = {bytes: 0, parser: ''};
let current = {parser: '', bytes: 0};

describeParsers({
  runs: 1_000_000,
  forMs: seconds * 1_000,
  took: (ms, parser, input) => {
    if (ms > longest.ms) longest = {ms, what: `${parser}: ${input.toString('base64').slice(0, 4_000)}`};
    const bytes = process.memoryUsage.rss();
    if (bytes > collectedAt + COLLECT_AFTER_BYTES) {
      collect();
      collectedAt = bytes;
    }
    if (parser !== current.parser) current = {parser, bytes};
    if (bytes - current.bytes > most.bytes) most = {bytes: bytes - current.bytes, parser};
  },
});

afterAll(() => {
  process.stderr.write(
    `longest: ${Math.round(longest.ms)} ms; memory: ${Math.round(most.bytes / 2 ** 20)} MB more for ${most.parser}\n`,
  );
  // Checked here, since work that exceeds its time is given up and counts as passed.
  expect(longest.ms, longest.what).toBeLessThan(LONGEST_MS);
  expect(most.bytes, most.parser).toBeLessThan(MOST_BYTES);
});

import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {openParsers, type Parser, seedsOf, survives} from './parsers.ts';

/** Parts of the formats, and traps for parsers. */
const tokens = [
  ...['"', "'", ',', ';', '\n', '\r\n', '{', '}', '[', ']', ':', '\\', '\\u0000', '\\ud800', '\0', '\xff'],
  ...['\x1b[', '__proto__', 'constructor', 'null', '-0', '1e999', '0x', '9'.repeat(40), 'NaN', 'true'],
  ...['- ', '&a ', '*a', '(', ')', '&&', '?', '.matches("', '(a+)+$', 'x'.repeat(5_000), '['.repeat(3_000)],
  ...['('.repeat(3_000), '{"a":'.repeat(2_000), 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n'],
  ...['ffffffff\r\n', '!!js/function '],
].map(token => Buffer.from(token, 'latin1'));

const change = fc.record({
  kind: fc.constantFrom('token', 'byte', 'cut', 'repeat', 'splice'),
  at: fc.nat(),
  length: fc.nat(64),
  token: fc.constantFrom(...tokens),
  byte: fc.nat(255),
});
type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;

function changed(bytes: Buffer, {kind, at, length, token, byte}: Change, other: Buffer): Buffer {
  const from = bytes.length === 0 ? 0 : at % bytes.length;
  const [before, after] = [bytes.subarray(0, from), bytes.subarray(from)];
  switch (kind) {
    case 'token':
      return Buffer.concat([before, token, after]);
    case 'byte':
      return Buffer.concat([before, Buffer.from([byte]), after.subarray(1)]);
    case 'cut':
      return Buffer.concat([before, after.subarray(length)]);
    case 'repeat':
      return Buffer.concat([before, ...Array<Buffer>(length).fill(after.subarray(0, 16)), after]);
    case 'splice':
      return Buffer.concat([before, other.subarray(at % (other.length + 1))]);
    default:
      return kind satisfies never;
  }
}

function inputsFor(parser: Parser): fc.Arbitrary<Buffer> {
  const seeds = seedsOf(parser);
  const seed = fc.constantFrom(...seeds);
  return fc
    .tuple(seed, seed, fc.array(change, {maxLength: 6}))
    .map(([first, other, changes]) => changes.reduce((bytes, one) => changed(bytes, one, other), first));
}

/** In the soak a minute in all, or SOAK_FUZZ_SECONDS: each parser has the same share. */
const {SOAK, SOAK_FUZZ_SECONDS = 60} = process.env;
const isSoak = SOAK !== undefined;
const LONGEST_MS = 1_000;
const MOST_BYTES = 256 * 2 ** 20;

/** A database's memory is freed when its objects are collected, which thousands of them a minute outrun. */
const COLLECT_AFTER_BYTES = 32 * 2 ** 20;
if (isSoak) setFlagsFromString('--expose-gc');
const collect: () => void = isSoak ? runInNewContext('gc') : () => {};

/** The longest time that one input took, and the most memory that a parser took. */
class Costs {
  longest = {ms: 0, input: ''};
  mostBytes = 0;
  readonly #beginning = process.memoryUsage.rss();
  #collected = 0;

  took(ms: number, input: Buffer): void {
    if (ms > this.longest.ms) this.longest = {ms, input: input.toString('base64').slice(0, 4_000)};
    const bytes = process.memoryUsage.rss();
    if (bytes > this.#collected + COLLECT_AFTER_BYTES) {
      collect();
      this.#collected = bytes;
    }
    this.mostBytes = Math.max(this.mostBytes, bytes - this.#beginning);
  }
}

/** Every parser of strangers' bytes on its corpus and on what comes of changing that: it answers or refuses. */
describe("parsers of strangers' bytes", () => {
  test('neither crash nor hang on the corpus or its mutations', async () => {
    await using parsers = await openParsers();
    for (const parser of parsers.all) {
      expect(seedsOf(parser).length, parser.name).toBeGreaterThan(0);
      for (const bytes of seedsOf(parser)) await survives(parser, bytes);
      const runs = isSoak ? 1_000_000 : 20;
      const numRuns = parser.slow === true ? Math.ceil(runs / 10) : runs;
      const costs = new Costs();
      let current: {readonly since: number; readonly bytes: Buffer} | undefined;
      const told = () => {
        if (current !== undefined) costs.took(performance.now() - current.since, current.bytes);
        current = undefined;
      };
      const property = fc.asyncProperty(inputsFor(parser), async bytes => {
        current = {since: performance.now(), bytes};
        await survives(parser, bytes);
        told();
      });
      const limits = isSoak
        ? {interruptAfterTimeLimit: (Number(SOAK_FUZZ_SECONDS) * 1_000) / parsers.all.length}
        : {seed: 20_260};
      try {
        await fc.assert(property, {numRuns, ...limits});
        // Work that is under way when the time is over is not waited for, and counts as passed.
        told();
      } catch (error) {
        throw new Error(`${parser.name}: ${error instanceof Error ? error.message : error}`, {cause: error});
      }
      if (!isSoak) continue;
      expect(costs.longest.ms, `${parser.name}: ${costs.longest.input}`).toBeLessThan(LONGEST_MS);
      expect(costs.mostBytes, parser.name).toBeLessThan(MOST_BYTES);
    }
  });
});

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

export interface FuzzBounds {
  readonly runs: number;
  readonly seed?: number;
  /** Ends the round early, in milliseconds; each parser has the same share. */
  readonly forMs?: number;
  /** Told how long one input took, in milliseconds. */
  readonly took?: (ms: number, parser: string, input: Buffer) => void;
}

/** Every parser of strangers' bytes on its corpus and on what comes of changing that: it answers or refuses. */
export function describeParsers({runs, seed, forMs, took}: FuzzBounds): void {
  describe("parsers of strangers' bytes", () => {
    test('neither crash nor hang on the corpus or its mutations', async () => {
      await using parsers = await openParsers();
      for (const parser of parsers.all) {
        expect(seedsOf(parser).length, parser.name).toBeGreaterThan(0);
        for (const bytes of seedsOf(parser)) await survives(parser, bytes);
        const numRuns = parser.slow === true ? Math.ceil(runs / 10) : runs;
        let current: {readonly since: number; readonly bytes: Buffer} | undefined;
        const told = () => {
          if (current !== undefined) took?.(performance.now() - current.since, parser.name, current.bytes);
          current = undefined;
        };
        const property = fc.asyncProperty(inputsFor(parser), async bytes => {
          current = {since: performance.now(), bytes};
          await survives(parser, bytes);
          told();
        });
        const limits = forMs === undefined ? {} : {interruptAfterTimeLimit: forMs / parsers.all.length};
        try {
          await fc.assert(property, {numRuns, ...(seed === undefined ? {} : {seed}), ...limits});
          // Work that is under way when the time is over is not waited for.
          told();
        } catch (error) {
          throw new Error(`${parser.name}: ${error instanceof Error ? error.message : error}`, {
            cause: error,
          });
        }
      }
    });
  });
}

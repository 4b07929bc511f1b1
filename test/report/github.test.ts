import {expect, test} from 'vitest';
import {annotation, fitStepSummary} from '../../src/cli/github.ts';

const MIB = 1_048_576;
const sections = (count: number, size: number) =>
  [
    '# Title\n',
    ...Array.from({length: count}, (_, n) => `## Section ${n}\n\n${'ä'.repeat(size / 2)}\n`),
  ].join('');

test('a report that fits is added whole, with a blank line after it', () => {
  expect(fitStepSummary('# a\n\n## b\n', 0)).toBe('# a\n\n## b\n\n');
});

test('beyond 1 MiB in bytes, whole sections are left out, and it says so', () => {
  const text = fitStepSummary(sections(20, 100_000), 0);
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(MIB);
  expect(text.match(/^## /gm)).toHaveLength(10);
  expect(text).toContain('The rest was left out');
});

test('earlier output of the step counts', () => {
  const text = fitStepSummary(sections(20, 100_000), 500_000);
  expect(Buffer.byteLength(text) + 500_000).toBeLessThanOrEqual(MIB);
  expect(text.match(/^## /gm)).toHaveLength(5);
  expect(fitStepSummary('# a\n', MIB - 2)).toBe('');
});

test('annotations are one line, whatever is in them', () => {
  expect(annotation('error', 'a: b, c', '50% of\r\nall::rows')).toBe(
    '::error title=a%3A b%2C c::50%25 of%0D%0Aall::rows',
  );
});

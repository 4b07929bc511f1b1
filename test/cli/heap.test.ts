import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {keepHeapSmall} from '../../src/cli/heap.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test('the young generation grows to 32 MiB and no further, and again after V8 made it smaller', () => {
  const flags: string[] = [];
  let mebibytes = 1;
  keepHeapSmall({setFlag: flag => flags.push(flag), youngBytes: () => mebibytes * 2 ** 20});
  const at = (size: number) => {
    mebibytes = size;
    vi.advanceTimersByTime(1_000);
    return flags.splice(0);
  };
  expect([1, 31, 32, 40, 8, 33].map(at)).toEqual([
    ['--heap-growing-percent=75'],
    [],
    ['--semi-space-growth-factor=1'],
    [],
    ['--semi-space-growth-factor=2'],
    ['--semi-space-growth-factor=1'],
  ]);
});

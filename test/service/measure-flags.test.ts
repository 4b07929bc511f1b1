import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {type NetworkFlags, networkFlags} from '../../src/service/data/networks/networks.ts';
import {dataDirectory} from '../../src/service/data/packed-data.ts';
import {AsnTable} from '../../src/service/data/tables/ip-tables.ts';

// How well the network flags do against lists of addresses and CIDR ranges, one a line, weighted by addresses:
//
//   FLAG_LISTS=datacenter=FILE,vpn=FILE,tor=FILE npx vitest run test/service/measure-flags.test.ts

/** First address, and the one after the last. */
type Range = [number, number];

const toNumber = (address: string): number =>
  address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

const size = (ranges: Range[]): number => ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/** Sorted, and joined where they touch. */
function merge(ranges: Range[]): Range[] {
  const merged: Range[] = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function readRanges(text: string): Range[] {
  const lines = text.split('\n').filter(line => /^\d/.test(line));
  return merge(
    lines.map(line => {
      const [address = '', prefix = '32'] = line.trim().split('/');
      return [toNumber(address), toNumber(address) + 2 ** (32 - Number(prefix))];
    }),
  );
}

/** How many addresses are in both. */
function common(one: Range[], other: Range[]): number {
  let [i, j, sum] = [0, 0, 0];
  for (;;) {
    const [a, b] = [one[i], other[j]];
    if (a === undefined || b === undefined) return sum;
    sum += Math.max(0, Math.min(a[1], b[1]) - Math.max(a[0], b[0]));
    if (a[1] < b[1]) i++;
    else j++;
  }
}

/** Every address that a flag is set for. */
function flagged(flag: keyof NetworkFlags): Range[] {
  const table = new AsnTable(dataDirectory());
  const ranges = [...table.ranges()].filter(({system}) => networkFlags(system)[flag]);
  return merge(ranges.map(({start, end}) => [start, end + 1]));
}

describe('measuring', () => {
  it('counts the overlap of two sets of ranges', () => {
    const one = readRanges('10.0.0.0/24\n10.0.1.0/24\n# no range\n10.0.9.9\n');
    expect(one).toEqual([
      [167772160, 167772672],
      [167774473, 167774474],
    ]);
    expect(size(one)).toBe(513);
    expect(common(one, readRanges('10.0.0.128/25\n10.0.9.8/31\n10.1.0.0/16'))).toBe(129);
    expect(common(one, [])).toBe(0);
  });
});

const lists = process.env['FLAG_LISTS']?.split(',').map(list => list.split('=')) ?? [];

describe.skipIf(lists.length === 0)('the network flags', () => {
  it.each(lists as [keyof NetworkFlags, string][])('%s, against %s', (flag, path) => {
    const ours = flagged(flag);
    const listed = readRanges(readFileSync(path, 'utf8'));
    const both = common(ours, listed);
    const percent = (share: number): string => `${(share * 100).toFixed(1)}%`;
    console.log(
      `${flag}: flagged ${size(ours)}, listed ${size(listed)}, both ${both}: ` +
        `${percent(both / size(listed))} of the listed flagged, ${percent(both / size(ours))} of the flagged listed`,
    );
    expect(both).toBeLessThanOrEqual(size(ours));
  });
});

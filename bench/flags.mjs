// How well the embedded service's network flags do against lists of addresses and CIDR ranges, one a line, weighted by addresses.
//
//   node bench/flags.mjs datacenter=FILE vpn=FILE tor=FILE
import {readFileSync} from 'node:fs';
import {fromSrc} from './from-src.mjs';

const {networkFlags, AsnTable, dataDirectory} = await fromSrc(
  'service/data/networks/networks',
  'service/data/packed-data',
);
const systems = [...new AsnTable(dataDirectory()).ranges()];

const toNumber = address => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);
const size = ranges => ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/** Ranges as first address and the one after the last; sorted, and joined where they touch. */
function merge(ranges) {
  const merged = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = merged.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else merged.push([start, end]);
  }
  return merged;
}

function readRanges(text) {
  const lines = text.split('\n').filter(line => /^\d/.test(line));
  return merge(
    lines.map(line => {
      const [address, prefix = '32'] = line.trim().split('/');
      return [toNumber(address), toNumber(address) + 2 ** (32 - Number(prefix))];
    }),
  );
}

/** How many addresses are in both. */
function common(one, other) {
  let [i, j, sum] = [0, 0, 0];
  while (i < one.length && j < other.length) {
    const [a, b] = [one[i], other[j]];
    sum += Math.max(0, Math.min(a[1], b[1]) - Math.max(a[0], b[0]));
    if (a[1] < b[1]) i++;
    else j++;
  }
  return sum;
}

const percent = share => `${(share * 100).toFixed(1)}%`;
for (const [flag, path] of process.argv.slice(2).map(list => list.split('='))) {
  const flagged = systems.filter(({system}) => networkFlags(system)[flag]);
  const ours = merge(flagged.map(({start, end}) => [start, end + 1]));
  const listed = readRanges(readFileSync(path, 'utf8'));
  const both = common(ours, listed);
  console.log(
    `${flag}: flagged ${size(ours)}, listed ${size(listed)}, both ${both}: ` +
      `${percent(both / size(listed))} of the listed flagged, ${percent(both / size(ours))} of the flagged listed`,
  );
}

import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {PackedFile} from '../../dist/service/data/container.js';
import {dataDirectory, files} from '../../dist/service/data/data-dir.js';
import {AsnTable} from '../../dist/service/data/ip-tables.js';
import {networkFlags} from '../../dist/service/data/network-flags.js';

// How well the network flags do against lists of ranges, weighted by addresses. After a build:
//
//   node test/service/measure-flags.mjs datacenter=FILE vpn=FILE tor=FILE
//
// A file has one IPv4 address or CIDR range a line.

const toNumber = address => address.split('.').reduce((sum, octet) => sum * 256 + Number(octet), 0);

const size = ranges => ranges.reduce((sum, [start, end]) => sum + end - start, 0);

/** Sorted ranges [start, end), joined where they touch. */
function merge(ranges) {
  const joined = [];
  for (const [start, end] of ranges.sort((a, b) => a[0] - b[0])) {
    const last = joined.at(-1);
    if (last !== undefined && start <= last[1]) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

function readRanges(path) {
  const lines = readFileSync(path, 'utf8')
    .split('\n')
    .filter(line => /^\d/.test(line));
  return merge(
    lines.map(line => {
      const [address, prefix = '32'] = line.trim().split('/');
      return [toNumber(address), toNumber(address) + 2 ** (32 - Number(prefix))];
    }),
  );
}

/** How many addresses are in both. */
function common(a, b) {
  let [i, j, sum] = [0, 0, 0];
  while (i < a.length && j < b.length) {
    sum += Math.max(0, Math.min(a[i][1], b[j][1]) - Math.max(a[i][0], b[j][0]));
    if (a[i][1] < b[j][1]) i++;
    else j++;
  }
  return sum;
}

/** Every address that a flag is set for. */
function flagged(flag) {
  const packed = new PackedFile(readFileSync(join(dataDirectory(), files.asn)));
  const table = new AsnTable(dataDirectory());
  const [start, end, asn] = [packed.u32('start'), packed.u32('end'), packed.u32('asn')];
  const ranges = [];
  asn.forEach((number, index) => {
    const isFlagged = networkFlags({number, holder: table.holder(number)})[flag];
    if (isFlagged) ranges.push([start[index], end[index] + 1]);
  });
  return merge(ranges);
}

const percent = share => `${(share * 100).toFixed(1)}%`;

for (const [flag, path] of process.argv.slice(2).map(argument => argument.split('='))) {
  const [ours, listed] = [flagged(flag), readRanges(path)];
  const both = common(ours, listed);
  console.log(
    `${flag}: flagged ${size(ours)}, listed ${size(listed)}, both ${both}: ` +
      `${percent(both / size(listed))} of the listed flagged, ${percent(both / size(ours))} of the flagged listed`,
  );
}

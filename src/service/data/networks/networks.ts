import {readBundledList, sourceFile} from '../../../operations/package-files.ts';
import {addUp, files, lastNotAbove, PackedFile, readPacked} from '../packed-data.ts';

interface ListedNetwork {
  operator: string;
  asns: readonly number[];
  reason: string;
  /** URL or file that shows why the network is in the list. */
  source: string;
}

/** True for each kind that a network is, by our lists and its holder. */
export interface NetworkFlags {
  datacenter: boolean;
  vpn: boolean;
  tor: boolean;
}

const lines = readBundledList<'list' | 'operator' | 'asns' | 'reason' | 'source'>(
  sourceFile('service/data/networks/networks.csv'),
);

const listOf = (name: string): readonly ListedNetwork[] =>
  lines
    .filter(({list}) => list === name)
    .map(({list: _, asns, ...about}) => ({...about, asns: asns.split(' ').map(Number)}));

/**
 * Networks of servers. The source of an entry is what the operator says about itself, never a blocklist. Holders
 * with one of the {@link hostingWords} need no entry. Networks that also sell Internet access to customers are left
 * out.
 */
export const hostingNetworks = listOf('hosting');

/**
 * Networks that sell VPNs, or mostly run Tor relays and exits. Most such servers are in hosting networks, so these
 * lists find few: `is_vpn: false` or `is_tor_node: false` proves nothing.
 */
export const vpnNetworks = listOf('vpn');
export const torNetworks = listOf('tor');

/**
 * Words of holders that rent out servers, or rooms for them. `hosting` also counts at the end of a longer word, and
 * `vps` anywhere in one. All others count only as whole words, since `Ghost` contains `host`.
 */
const hostingWords =
  /\b(?:\w*hosting|\w*vps\w*|hosts?|servers?|cloud|data ?cent(?:er|re)s?|colo(?:cation)?)\b/i;

const numbers = (list: readonly ListedNetwork[]): ReadonlySet<number> =>
  new Set(list.flatMap(({asns}) => asns));

const hosting = numbers(hostingNetworks);
const vpn = numbers(vpnNetworks);
const tor = numbers(torNetworks);

/** The kinds of a network. VPN and Tor networks are in data centres, so they count as data centres too. */
export function networkFlags({number, holder}: AutonomousSystem): NetworkFlags {
  const isVpn = vpn.has(number);
  const isTor = tor.has(number);
  return {
    datacenter: isVpn || isTor || hosting.has(number) || hostingWords.test(holder),
    vpn: isVpn,
    tor: isTor,
  };
}

export interface AutonomousSystem {
  number: number;
  /** The holder's name in the data set; may be empty. */
  holder: string;
}

export class AsnTable {
  readonly #start: Uint32Array;
  readonly #end: Uint32Array;
  readonly #asn: Uint32Array;
  readonly #holder: Uint32Array;
  readonly #nameEnd: Uint32Array;
  readonly #name: Buffer;

  constructor(directory: string) {
    const packed = new PackedFile(readPacked(directory, files.asn));
    ({start: this.#start, end: this.#end} = ranges(packed));
    this.#asn = packed.column('asn', 'u32');
    this.#holder = addUp(packed.column('holderGap', 'u32'));
    this.#nameEnd = addUp(packed.column('nameLength', 'u32'));
    const names = packed.column('name', 'u8');
    this.#name = Buffer.from(names.buffer, names.byteOffset, names.length);
  }

  /** @param address an IPv4 address as a number */
  find(address: number): AutonomousSystem | undefined {
    const index = lastNotAbove(this.#start, address);
    if (index < 0 || address > (this.#end[index] as number)) return undefined;
    const number = this.#asn[index] as number;
    return {number, holder: this.holder(number)};
  }

  *ranges(): Iterable<{start: number; end: number; system: AutonomousSystem}> {
    for (const [index, start] of this.#start.entries()) {
      const number = this.#asn[index] as number;
      yield {start, end: this.#end[index] as number, system: {number, holder: this.holder(number)}};
    }
  }

  holder(number: number): string {
    const index = lastNotAbove(this.#holder, number);
    if (index < 0 || this.#holder[index] !== number) return '';
    return this.#name.toString('utf8', index === 0 ? 0 : this.#nameEnd[index - 1], this.#nameEnd[index]);
  }
}

/**
 * A range is packed as its distance from the end of the range before it, and its length: a fifth of the size. If two
 * ranges overlap, the distance is negative, modulo 2^32. The addition wraps too, since `start` is a Uint32Array.
 */
function ranges(packed: PackedFile): {start: Uint32Array; end: Uint32Array} {
  const gap = packed.column('gap', 'u32');
  const length = packed.column('length', 'u32');
  const start = new Uint32Array(gap.length);
  const end = new Uint32Array(gap.length);
  let next = 0;
  for (let index = 0; index < gap.length; index++) {
    start[index] = next + (gap[index] as number);
    next = (start[index] as number) + (length[index] as number);
    end[index] = next - 1;
  }
  return {start, end};
}

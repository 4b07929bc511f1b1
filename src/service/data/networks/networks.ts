import {readBundledList} from '../../../operations/mail/mail-providers.ts';
import {sourceFile} from '../../../operations/package-files.ts';
import type {AutonomousSystem} from '../tables/ip-tables.ts';

/** An operator on one of the lists that this project keeps. */
interface ListedNetwork {
  /** The operator's trade name. */
  operator: string;
  asns: readonly number[];
  reason: string;
  /** URL or file that shows why the network is in the list. */
  source: string;
}

/** True for each kind that a network is, by this project's lists and by the name of the network's holder. */
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
 * Networks whose addresses belong to servers, by operator. The source of an entry is what the operator says about
 * itself, never a blocklist. Holders with one of the {@link hostingWords} in their name need no entry. The list is
 * far from complete, and leaves out networks that also sell Internet access to customers.
 */
export const hostingNetworks = listOf('hosting');

/**
 * Networks that sell VPNs, or mostly run Tor relays and exits. Most VPN and Tor servers are in hosting networks, so
 * these lists find few: `is_vpn: false` or `is_tor_node: false` proves nothing.
 */
export const vpnNetworks = listOf('vpn');
export const torNetworks = listOf('tor');

/**
 * Words in the names of holders that rent out servers, or rooms for servers. `hosting` also counts at the end of a
 * longer word, and `vps` anywhere in a word. All others count only as whole words, since `Ghost` contains `host`.
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

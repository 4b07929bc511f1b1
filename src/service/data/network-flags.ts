import {hostingNetworks} from './hosting-networks.ts';
import type {AutonomousSystem} from './ip-tables.ts';
import {torNetworks} from './tor-networks.ts';
import {vpnNetworks} from './vpn-networks.ts';

/** A network on one of the lists that this project keeps. */
export interface ListedNetwork {
  asn: number;
  /** Its operator, by the name that it trades under. */
  operator: string;
  /** Why it is on the list. */
  reason: string;
  /** Where that can be read. */
  source: string;
}

/** What kind of network an address is in, by the lists and by what its holder calls itself. */
export interface NetworkFlags {
  datacenter: boolean;
  vpn: boolean;
  tor: boolean;
}

/** Words by which holders say that they rent out servers. */
const hostingWords =
  /\b(?:hosting|web ?host|vps|data ?cent(?:er|re)s?|colo(?:cation)?|cloud|dedicated servers?|virtual servers?|server farm)\b/i;

/** Words by which holders say that they sell VPNs. */
const vpnWords = /\bvpn\b/i;

const numbers = (list: readonly ListedNetwork[]): ReadonlySet<number> => new Set(list.map(({asn}) => asn));

const hosting = numbers(hostingNetworks);
const vpn = numbers(vpnNetworks);
const tor = numbers(torNetworks);

/** VPN and Tor networks stand in data centres, so they count as such too. */
export function networkFlags({number, holder}: AutonomousSystem): NetworkFlags {
  const isVpn = vpn.has(number) || vpnWords.test(holder);
  const isTor = tor.has(number);
  return {
    datacenter: isVpn || isTor || hosting.has(number) || hostingWords.test(holder),
    vpn: isVpn,
    tor: isTor,
  };
}

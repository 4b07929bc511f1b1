import type {AutonomousSystem} from '../ip-tables.ts';
import {hostingNetworks} from './hosting-networks.ts';
import type {ListedNetwork} from './listed-network.ts';
import {torNetworks} from './tor-networks.ts';
import {vpnNetworks} from './vpn-networks.ts';

/** What kind of network an address is in, by the lists and by what its holder calls itself. */
export interface NetworkFlags {
  datacenter: boolean;
  vpn: boolean;
  tor: boolean;
}

/** Words by which holders say that they rent out servers or the rooms for them. */
const hostingWords = /\b(?:hosting|hosts?|vps|servers?|cloud|data ?cent(?:er|re)s?|colo(?:cation)?)\b/i;

const numbers = (list: readonly ListedNetwork[]): ReadonlySet<number> =>
  new Set(list.flatMap(({asns}) => asns));

const hosting = numbers(hostingNetworks);
const vpn = numbers(vpnNetworks);
const tor = numbers(torNetworks);

/** VPN and Tor networks stand in data centres, so they count as such too. */
export function networkFlags({number, holder}: AutonomousSystem): NetworkFlags {
  const isVpn = vpn.has(number);
  const isTor = tor.has(number);
  return {
    datacenter: isVpn || isTor || hosting.has(number) || hostingWords.test(holder),
    vpn: isVpn,
    tor: isTor,
  };
}

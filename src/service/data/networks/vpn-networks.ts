import type {ListedNetwork} from './listed-network.ts';

/**
 * Networks that sell VPNs, by operator. Most VPN servers stand in rented racks of the hosting networks and can't be
 * told by network, so this finds few of them: where it says no, nothing follows.
 */
export const vpnNetworks: readonly ListedNetwork[] = [
  {
    operator: 'StrongVPN (Strong Technology)',
    asns: [22781, 62651, 140952, 13926, 54203],
    reason: 'sells a VPN; the networks are its own',
    source: 'strongvpn.com; ARIN and APNIC registrations',
  },
  {
    operator: 'NordVPN (PacketHub)',
    asns: [136787, 207137, 147049, 141039, 272096],
    reason: "its addresses carry NordVPN's servers",
    source: 'attributed by those who watch VPN networks; the operator does not say so itself',
  },
  {
    operator: 'NordVPN (Tesonet)',
    asns: [133944],
    reason: 'the company that NordVPN came from',
    source: 'tesonet.com; what else the network carries is not public',
  },
  {
    operator: 'Mullvad',
    asns: [216025, 39351, 49399, 214813],
    reason: "Mullvad's own network, and 31173 Services, which carries its servers",
    source: 'mullvad.net/servers names 31173 as the owner of its Swedish servers',
  },
  {
    operator: 'Proton VPN',
    asns: [208172, 209103, 199218],
    reason: "Proton's networks for its VPN; the one for its mail (62371) is left out",
    source: 'protonvpn.com; RIPE registrations',
  },
  {
    operator: 'Windscribe',
    asns: [397540],
    reason: 'sells a VPN; the network is its own',
    source: 'windscribe.com; ARIN registration',
  },
  {
    operator: 'IVPN',
    asns: [203619],
    reason: 'sells a VPN; the network is its own',
    source: 'ivpn.net; RIPE registration',
  },
  {operator: 'Bullet Proof VPN', asns: [208765], reason: 'named as a VPN', source: 'RIPE registration'},
  {operator: 'Castle VPN', asns: [397282], reason: 'named as a VPN', source: 'ARIN registration'},
  {operator: 'VPNWholesaler', asns: [62635], reason: 'named as a VPN', source: 'ARIN registration'},
  {operator: 'IPLOCKVPN', asns: [394104], reason: 'named as a VPN', source: 'ARIN registration'},
  {operator: 'Free Unlimited VPN', asns: [213163], reason: 'named as a VPN', source: 'RIPE registration'},
];

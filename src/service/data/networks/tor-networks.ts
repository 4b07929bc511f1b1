import type {ListedNetwork} from './listed-network.ts';

/**
 * Networks that exist, wholly or mostly, to run Tor relays and exits. Most exits stand in hosting networks, among other
 * servers, and can't be told by network, so this finds few of them: where it says no, nothing follows.
 */
export const torNetworks: readonly ListedNetwork[] = [
  {
    operator: 'Stiftung Erneuerbare Freiheit',
    asns: [60729],
    reason: 'runs Tor relays and exits (relayon)',
    source: "relayon.org; successor of torservers.net's networks",
  },
  {
    operator: 'Quintex Alliance Consulting',
    asns: [62744],
    reason: 'runs Tor exits',
    source: 'quintex.com on its Tor exits',
  },
  {operator: 'Emerald Onion', asns: [396507], reason: 'founded to run Tor exits', source: 'emeraldonion.org'},
  {operator: 'The Calyx Institute', asns: [4224], reason: 'runs Tor exits', source: 'calyxinstitute.org'},
  {
    operator: 'Foundation for Applied Privacy',
    asns: [208323],
    reason: 'runs Tor relays, and other privacy services',
    source: 'applied-privacy.net',
  },
  {operator: 'F3 Netze', asns: [205100], reason: 'runs Tor exits', source: 'f3netze.de'},
  {
    operator: 'Unredacted',
    asns: [401401, 401720],
    reason: 'runs Tor relays and exits, and other services',
    source: 'unredacted.org',
  },
  {operator: 'Church of Cyberology', asns: [215125], reason: 'runs Tor exits', source: 'cyberology.church'},
];

import type {ListedNetwork} from './network-flags.ts';

export const vpnNetworks: readonly ListedNetwork[] = [];

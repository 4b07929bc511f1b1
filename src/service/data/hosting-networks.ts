import type {ListedNetwork} from './network-flags.ts';

export const hostingNetworks: readonly ListedNetwork[] = [];

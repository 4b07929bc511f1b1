import type {ListedNetwork} from './network-flags.ts';

export const torNetworks: readonly ListedNetwork[] = [];

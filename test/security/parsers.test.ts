import {describeParsers} from './fuzz.ts';

// The parsers of strangers' bytes, sealed chunks among them; parsers.soak.test.ts does it for longer.
describeParsers({runs: 20, seed: 20_260});

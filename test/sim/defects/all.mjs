import {attacks} from './attacks.mjs';
import {foundHere} from './found-here.mjs';
import {mutations} from './mutations.mjs';
import {onceThere} from './once-there.mjs';
import {unnoticed} from './unnoticed.mjs';
import {ways} from './ways.mjs';

/** All defects that can be put back: the name of each, and its edits of src. */
export const allDefects = [...onceThere, ...foundHere, ...attacks, ...mutations, ...unnoticed, ...ways];

import type {Edit} from '../compile.mjs';

export declare const allDefects: readonly {readonly name: string; readonly edits: readonly Edit[]}[];

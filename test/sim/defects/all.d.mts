import type {Edit} from '../compile.mjs';

interface Defect {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** The test that finds it, where no sequence of commands shows it. */
  readonly test?: string;
}

export declare const allDefects: readonly Defect[];

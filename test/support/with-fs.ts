import fs from 'node:fs';
import {syncBuiltinESMExports} from 'node:module';

type Fs = typeof fs;

/** Replaces functions of `node:fs` in all modules while `work` runs. `replace` gets the real ones. */
export async function withFs<T>(replace: (real: Fs) => Partial<Fs>, work: () => T | Promise<T>): Promise<T> {
  const real = {...fs};
  const replaced = replace(real);
  Object.assign(fs, replaced);
  syncBuiltinESMExports();
  try {
    return await work();
  } finally {
    for (const name of Object.keys(replaced) as (keyof Fs)[]) Object.assign(fs, {[name]: real[name]});
    syncBuiltinESMExports();
  }
}

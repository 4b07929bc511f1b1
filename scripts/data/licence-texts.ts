import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {packageFolder} from '../../src/service/data/packed-data.ts';

/** The licence texts in an installed package, from files whose names match `pattern`. */
export function licenceTexts(name: string, pattern = /licen[cs]e/i): string[] {
  const folder = packageFolder(name);
  const named = folder === undefined ? [] : readdirSync(folder).filter(file => pattern.test(file));
  return named.sort().map(file => readFileSync(join(folder ?? '', file), 'utf8').trim());
}

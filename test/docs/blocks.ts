import {readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect} from 'vitest';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const textOf = (page: string): string => readFileSync(`${root}${page}`, 'utf8');

/** Holds a page that is made from the code against what it should be; with UPDATE=1 writes it first. */
export function expectPage(page: string, expected: string): void {
  if (process.env.UPDATE === '1') writeFileSync(`${root}${page}`, expected);
  expect(textOf(page)).toBe(expected);
}

/** A page's code blocks in one language. */
export function blocksOf(text: string, language: string): string[] {
  const found = text.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'));
  return [...found].map(match => match[1] ?? '');
}

/** The commands of shell blocks, one a line, without what is said of them. */
export function commandsIn(blocks: readonly string[]): string[] {
  return blocks
    .flatMap(block => block.split('\n').map(line => line.replace(/ +# .*/, '').trim()))
    .filter(Boolean);
}

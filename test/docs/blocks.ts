import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';

export const root = fileURLToPath(new URL('../../', import.meta.url));

export const textOf = (page: string): string => readFileSync(`${root}${page}`, 'utf8');

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

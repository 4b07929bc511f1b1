import {readFileSync} from 'node:fs';

/** What stands at the end of a command's help, from `examples.txt`; nothing for a command that only holds others. */
export function examplesOf(words: string): string {
  const text = readFileSync(new URL('./examples.txt', import.meta.url), 'utf8');
  const own = text.split(/^(?=\S)/m).find(section => section.startsWith(`${words}\n`));
  return own === undefined ? '' : own.replace(words, '\nExamples:');
}

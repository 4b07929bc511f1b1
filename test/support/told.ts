import {readFileSync, writeFileSync} from 'node:fs';
import {afterAll, expect} from 'vitest';
import {UsageError} from '../../src/errors.ts';

const isUpdate = process.env.UPDATE === '1';

/**
 * The cases of a file of lines "case => what is said of it", in parts with an empty line between them. For a new case the
 * line needs no more than the case.
 */
export function casesOf(path: string): (readonly string[])[] {
  const parts = readFileSync(path, 'utf8').trim().split('\n\n');
  return parts.map(part => part.split('\n').map(line => line.split(' => ')[0] ?? ''));
}

/**
 * Compares what is said of a case with its own line in a file. UPDATE=1 writes the lines of the cases that ran, and leaves
 * the others. `between` parts the case from what is said. A file that is missing fails.
 */
export function toldIn(path: string, between = ' => '): (one: string, said: string) => void {
  const lines = readFileSync(path, 'utf8').split('\n');
  const nameOf = (line: string) => line.split(between)[0] ?? '';
  const told = new Map<string, string>();
  if (isUpdate)
    afterAll(() => {
      const known = new Set(lines.map(nameOf));
      const added = [...told].filter(([one]) => !known.has(one)).map(([, line]) => line);
      const written = lines.map(line => told.get(nameOf(line)) ?? line);
      const all = added.length === 0 ? written : [...written.filter(Boolean), ...added].sort().concat('');
      writeFileSync(path, all.join('\n'));
    });
  return (one, said) => {
    const line = `${one}${between}${said}`;
    told.set(one, line);
    if (!isUpdate) expect(line).toBe(lines.find(known => nameOf(known) === one));
  };
}

/** Compares texts with a file: the first whole, of each other the lines that it lacks, or has beyond the first. */
export function expectTexts(path: string, texts: readonly (readonly [name: string, text: string])[]): void {
  const first = texts[0]?.[1].split('\n') ?? [];
  const parts = texts.map(([name, text], index) => {
    const lines = text.split('\n');
    const lacks = first.filter(line => !lines.includes(line)).map(line => `- ${line}`.trimEnd());
    const has = lines.filter(line => !first.includes(line)).map(line => `+ ${line}`.trimEnd());
    return `== ${name}\n${(index === 0 ? lines : [...lacks, ...has]).join('\n')}\n`;
  });
  expectText(path, parts.join('\n'));
}

/** Compares a text with a file, which UPDATE=1 writes. */
export function expectText(path: string, text: string): void {
  if (isUpdate) writeFileSync(path, text);
  expect(text).toBe(readFileSync(path, 'utf8'));
}

/** What the usage error says that this ends with. */
export function complaintOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  return 'no complaint';
}

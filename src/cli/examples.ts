import {readFileSync} from 'node:fs';
import type {Command} from 'commander';
import {sourceFile} from '../operations/package-files.ts';

/** Examples at the end of a command's help, from `examples.txt`; empty for a command that only groups others. */
export function examplesOf(command: Command): string {
  const name = nameOf(command);
  const text = readFileSync(sourceFile('cli/examples.txt'), 'utf8');
  const own = text.split(/^(?=\S)/m).find(section => section.startsWith(`${name}\n`));
  return own === undefined ? '' : own.replace(name, '\nExamples:').split('\n').map(fitted).join('\n');
}

/** An example with its explanation. In a narrow terminal, the explanation moves to the next line. */
function fitted(line: string): string {
  const {isTTY, columns} = process.stdout;
  return isTTY && line.length > columns ? line.replace(/ {3,}(?=\S)/, '\n      ') : line;
}

/** A command's name after that of its group: `lookup`, `store purge`. */
function nameOf(command: Command): string {
  const above = command.parent?.parent ? `${nameOf(command.parent)} ` : '';
  return above + command.name();
}

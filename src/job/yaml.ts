import {createRequire} from 'node:module';
import type {CST, Document, LineCounter, YAMLError} from 'yaml';

/** Maximum levels of nesting in data from users and services. Real data has a few levels. */
export const MAX_NESTING = 100;

/** True if a value is nested deeper than `levels`: `JSON.stringify` and others would overflow the stack. */
export function nestsTooDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && nestsTooDeep(inner, levels - 1)) return true;
  return false;
}

const require = createRequire(import.meta.url);

/** The YAML library. Loading it takes as long as Node's own start, so only those who read a file load it. */
export const loadYaml = (): typeof import('yaml') => require('yaml');

export class TooDeepError extends Error {
  readonly line: number;

  constructor(line: number) {
    super(`it is nested more than ${MAX_NESTING} levels deep`);
    this.line = line;
  }
}

const isLevel = ({type}: CST.Token) => type === 'flow-collection' || type.startsWith('block-');

/**
 * Reads YAML or JSON that a user wrote. At great depth the library would run out of stack, in V8 itself, so the depth
 * is measured first, token by token. Throws TooDeepError.
 */
export function parseYamlDocument(text: string, lineCounter?: LineCounter): Document.Parsed {
  const {Lexer, LineCounter, Parser, parseDocument} = loadYaml();
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const token of new Lexer().lex(text)) {
    for (const _ of parser.next(token));
    // The stack has also the document, and perhaps a text.
    if (parser.stack.length > MAX_NESTING && parser.stack.filter(isLevel).length > MAX_NESTING)
      throw new TooDeepError(lines.linePos(parser.offset).line);
  }
  return parseDocument(text, {prettyErrors: false, ...(lineCounter && {lineCounter})});
}

/** The first fault of a document. So is an unknown tag such as `!x`, which the library drops. */
export function findYamlFault({errors, warnings}: Document.Parsed): YAMLError | undefined {
  return errors[0] ?? warnings[0];
}

/** The value of YAML or JSON text. Throws its first fault, or a TooDeepError. */
export function parseYaml(text: string): unknown {
  const document = parseYamlDocument(text);
  const problem = findYamlFault(document);
  if (problem !== undefined) throw problem;
  return document.toJS();
}

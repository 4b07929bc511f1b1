import {type Document, Lexer, LineCounter, Parser, parseDocument} from 'yaml';
import {MOST_LEVELS} from './nesting.ts';

/** A text that is nested deeper than any settings are. */
export class TooDeep extends Error {
  /** The line on which it gets too deep. */
  readonly line: number;

  constructor(line: number) {
    super(`it is nested more than ${MOST_LEVELS} levels deep`);
    this.line = line;
  }
}

/**
 * Reads YAML or JSON that a person wrote. The library calls itself for each level, and V8 ends the process where it meets a
 * regular expression at the end of its stack: so the depth is found out first, by what reads token by token.
 *
 * @throws {TooDeep}
 */
export function readDocument(text: string, lineCounter?: LineCounter): Document.Parsed {
  const lines = new LineCounter();
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  for (const token of new Lexer().lex(text)) {
    for (const _ of parser.next(token));
    if (parser.stack.length > MOST_LEVELS) throw new TooDeep(lines.linePos(parser.offset).line);
  }
  return parseDocument(text, {prettyErrors: false, ...(lineCounter && {lineCounter})});
}

/** The value of YAML or JSON text. Throws an error that says what is wrong with it. */
export function yamlValue(text: string): unknown {
  const document = readDocument(text);
  const [problem] = document.errors;
  if (problem !== undefined) throw problem;
  return document.toJS();
}

import {say, set} from '../../sentence.ts';
import {InputError} from '../input-error.ts';
import {firstRecords, sniffDelimiter} from './delimiter.ts';
import type {CsvDialect} from './record-reader.ts';

/** Detects a CSV's dialect from the beginning of its text. A given `delimiter` is not detected. */
export function detectDialect(sample: string, delimiter?: string): CsvDialect {
  const sep = /^(?:sep=([^\r\n])|"sep=([^\r\n])")(?:\r\n|\r|\n|$)/i.exec(sample);
  const text = sep === null ? sample : sample.slice(sep[0].length);
  const named = delimiter ?? sep?.[1] ?? sep?.[2];
  const eol = detectEol(sample);
  return {
    delimiter: named ?? sniffDelimiter(text, eol),
    eol,
    sepLineBytes: sep === null ? 0 : Buffer.byteLength(sep[0]),
  };
}

/** @throws {InputError} if the header is one field with the given delimiter, and several with another. */
export function refuseOtherDelimiter(sample: string, delimiter: string, name: string): void {
  const given = detectDialect(sample, delimiter);
  const shown = detectDialect(sample);
  const columnsWith = (dialect: CsvDialect) => recordsIn(sample, dialect)[0]?.length ?? 0;
  const columns = columnsWith(shown);
  if (columnsWith(given) !== 1 || columns < 2) return;
  const shownAs = JSON.stringify(shown.delimiter);
  throw new InputError(
    'input_header',
    say`${name} has one column with ${set('delimiter', delimiter)}, and ${columns} with ${shownAs}. Leave ${set('delimiter')} out.`,
  );
}

/** The first records of a text, with its header. */
export function recordsIn(sample: string, {delimiter, eol, sepLineBytes}: CsvDialect) {
  return firstRecords(Buffer.from(sample).subarray(sepLineBytes), delimiter, eol);
}

/**
 * The first line end outside quoted fields. It is a lone `\r` only if no `\n` is outside quotes. If a quote is not
 * closed, the line end is a lone `\r` only if the text has no `\n` at all.
 */
function detectEol(sample: string): CsvDialect['eol'] {
  let quoted = false;
  let sawReturn = false;
  for (let i = 0; i < sample.length; i++) {
    const character = sample[i];
    if (character === '"') quoted = !quoted;
    if (quoted) continue;
    if (character === '\n') return sample[i - 1] === '\r' ? '\r\n' : '\n';
    if (character === '\r') sawReturn = true;
  }
  if (sawReturn && !(quoted && sample.includes('\n'))) return '\r';
  return /\r\n/.test(sample) ? '\r\n' : '\n';
}

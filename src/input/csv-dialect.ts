/** How a CSV file is written, as far as its text shows it. */
export interface CsvDialect {
  readonly delimiter: string;
  readonly eol: '\n' | '\r\n' | '\r';
  /** The length of Excel's `sep=;` line with its end; 0 where there is none. */
  readonly sepLineBytes: number;
}

/** In order of preference where a text says nothing. */
const DELIMITERS = [',', ';', '\t', '|'] as const;

/** How many records of the sample are looked at. */
const SNIFFED_RECORDS = 100;

/** Finds out how a CSV is written from the beginning of its text; `delimiter`, where given, is not guessed. */
export function detectDialect(sample: string, delimiter?: string): CsvDialect {
  const sep = /^(?:sep=([^\r\n])|"sep=([^\r\n])")(?:\r\n|\r|\n|$)/i.exec(sample);
  const text = sep === null ? sample : sample.slice(sep[0].length);
  const named = delimiter ?? sep?.[1] ?? sep?.[2];
  return {
    delimiter: named ?? sniffDelimiter(text),
    eol: detectEol(sample),
    sepLineBytes: sep === null ? 0 : Buffer.byteLength(sep[0]),
  };
}

/**
 * The delimiter which cuts the most records into as many fields as the first has; where several do that as well,
 * the one with more fields. A comma where none occurs in the first record: a file of one column.
 */
function sniffDelimiter(text: string): string {
  let best = {delimiter: ',', agreeing: 0, fields: 0};
  for (const delimiter of DELIMITERS) {
    const counts = countFields(text, delimiter);
    const fields = counts[0] ?? 1;
    if (fields === 1) continue;
    const agreeing = counts.filter(count => count === fields).length / counts.length;
    if (agreeing > best.agreeing || (agreeing === best.agreeing && fields > best.fields)) {
      best = {delimiter, agreeing, fields};
    }
  }
  return best.delimiter;
}

/** The number of fields of each whole record that is not blank. */
function countFields(text: string, delimiter: string): number[] {
  const counts: number[] = [];
  let fields = 1;
  let fieldStart = 0;
  let recordStart = 0;
  let quoted = false;
  for (let i = 0; i < text.length && counts.length < SNIFFED_RECORDS; i++) {
    const character = text[i];
    if (quoted) {
      if (character === '"') quoted = false;
    } else if (character === '"') {
      // A quote right behind a closing one is an escaped one.
      quoted = i === fieldStart || text[i - 1] === '"';
    } else if (character === delimiter) {
      fields++;
      fieldStart = i + 1;
    } else if (character === '\n' || character === '\r') {
      if (i > recordStart) counts.push(fields);
      fields = 1;
      fieldStart = i + 1;
      recordStart = i + 1;
    }
  }
  return counts.length === 0 ? [fields] : counts;
}

/**
 * The first line end that stands in no quoted field. A lone `\r` is a line end only where a text has no `\n` outside
 * quotes; where quotes don't pair, nowhere.
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

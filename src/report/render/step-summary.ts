/** Maximum bytes of a step summary. GitHub Actions refuses a longer one (docs.github.com, "Workflow commands"). */
const MOST_BYTES = 1_048_576;
const CUT = '\n*The rest was left out: a step’s summary holds 1 MiB at most.*\n';

/** Cuts a Markdown report to the whole sections that fit into a step summary, which already has `used` bytes. */
export function fitStepSummary(markdown: string, used: number): string {
  const text = `${markdown.trimEnd()}\n\n`;
  const room = MOST_BYTES - used;
  if (Buffer.byteLength(text) <= room) return text;
  let fitting = '';
  for (const section of text.split(/^(?=## )/m)) {
    if (Buffer.byteLength(fitting + section + CUT) > room) break;
    fitting += section;
  }
  return fitting === '' ? '' : fitting + CUT;
}

/** A line that GitHub shows beside the run. Its message must hold no values from rows. */
export function annotation(
  level: 'notice' | 'warning' | 'error',
  title: string,
  message: string,
  at?: {readonly file: string; readonly line: number},
): string {
  const place = at === undefined ? '' : `file=${escaped(at.file, /[%\r\n:,]/g)},line=${at.line},`;
  return `::${level} ${place}title=${escaped(title, /[%\r\n:,]/g)}::${escaped(message, /[%\r\n]/g)}`;
}

function escaped(text: string, characters: RegExp): string {
  return text.replace(
    characters,
    character => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

import type {Settings} from '../../job/settings.ts';
import {codeAdvice, codeMeaning} from '../../lookup/code-meanings.ts';
import {formatCount, wrapText} from './lines.ts';

const NAMED_ROWS = 5;

interface TroubleList {
  readonly heading: string;
  /** The number of codes that are shown. */
  readonly most: number;
  /** The file or the command that has all codes. */
  readonly allIn: string;
  /** The run's settings. The advice never suggests a setting that is already set. */
  readonly settings: Partial<Settings>;
}

/** Explains the problems of a list's rows and values, by code, with the first rows. Empty without problems. */
export function formatTroubles(
  {heading, most, allIn, settings}: TroubleList,
  errors: readonly {readonly code: string; readonly count: number; readonly rows: readonly number[]}[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  if (errors.length === 0) return [];
  // If only one code is left over, it is shown too: the line "1 more codes are in …" would take as much room.
  const shown = errors.length === most + 1 ? errors.length : most;
  const lines = errors.slice(0, shown).flatMap(({code, count: times, rows}) => {
    const named = `${rows.slice(0, NAMED_ROWS).join(', ')}${times > NAMED_ROWS ? ', …' : ''}`;
    const line = `${formatCount(times)} × ${code}, row${times === 1 ? '' : 's'} ${named}${inWords(code, settings)}`;
    return wrapText(line, width - 4).map((part, index) => `${index === 0 ? '  ' : '    '}${part}`);
  });
  const left = errors.length - shown;
  return [heading, ...lines, ...(left > 0 ? [`  ${formatCount(left)} more codes are in ${allIn}.`] : [])];
}

/** The code's meaning and advice; empty for a code that only the service defines. */
function inWords(code: string, settings: Partial<Settings>): string {
  const [meaning, advice] = [codeMeaning(code), codeAdvice(code, settings)];
  const words = [
    ...(meaning === '' ? [] : [meaning]),
    ...(advice === undefined ? [] : [`${capital(advice)}.`]),
  ];
  return words.length === 0 ? '' : `: ${words.join(' ')}`;
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

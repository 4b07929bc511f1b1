import type {Settings} from '../../job/settings.ts';
import {adviceOf} from '../../report/codes.ts';
import {count, wrapped} from './lines.ts';

/** So many codes are shown. */
const MOST_CODES = 8;
const NAMED_ROWS = 5;

interface Trouble {
  readonly heading: string;
  /** Where all codes are. */
  readonly allIn: string;
  /** What the run was told: nobody is told to do what was done. */
  readonly settings: Partial<Settings>;
}

/** What is wrong with a list's rows and values, by code, with the first rows; nothing where nothing is. */
export function troubleLines(
  {heading, allIn, settings}: Trouble,
  errors: readonly {readonly code: string; readonly count: number; readonly rows: readonly number[]}[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  if (errors.length === 0) return [];
  const lines = errors.slice(0, MOST_CODES).flatMap(({code, count: times, rows}) => {
    const named = rows.slice(0, NAMED_ROWS).join(', ');
    const what = adviceOf(code, settings);
    const line = `${count(times)} × ${code}: row${rows.length === 1 ? '' : 's'} ${named}${times > NAMED_ROWS ? ', …' : ''}${what === undefined ? '' : ` (${what})`}`;
    return wrapped(line, width - 4).map((part, index) => `${index === 0 ? '  ' : '    '}${part}`);
  });
  const left = errors.length - MOST_CODES;
  return [
    heading,
    ...lines,
    ...(left > 0 ? [`  and ${count(left)} rarer: all of them are in ${allIn}`] : []),
  ];
}

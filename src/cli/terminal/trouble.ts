import {adviceOf} from '../../report/codes.ts';
import {count, wrapped} from './lines.ts';

/** So many codes are shown. */
const MOST_CODES = 8;
const NAMED_ROWS = 5;

/** What is wrong with a list's rows and values, by code, with the first rows; nothing where nothing is. */
export function troubleLines(
  {heading, allIn}: {readonly heading: string; readonly allIn: string},
  errors: readonly {readonly code: string; readonly count: number; readonly rows: readonly number[]}[],
  width = Number.POSITIVE_INFINITY,
): string[] {
  if (errors.length === 0) return [];
  const lines = errors.slice(0, MOST_CODES).flatMap(({code, count: times, rows}) => {
    const named = rows.slice(0, NAMED_ROWS).join(', ');
    const what = adviceOf(code);
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

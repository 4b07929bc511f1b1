import {count, duration, percent} from '../format.ts';
import type {Block, LinesBlock, Report, Section} from '../model.ts';
import {withoutControls} from '../safe-text.ts';

/** The report as Markdown (GitHub's): the same words and figures, charts as tables. */
export function renderMarkdown({title, status, lead, facts, sections}: Report): string {
  const head = `# ${escaped(title)}: ${status.text}\n\n${escaped(lead)}\n`;
  const figures = tableOf(
    ['', ''],
    facts.map(({label, value, note}) => [label, note === undefined ? value : `${value} (${note})`]),
  );
  return withoutControls([head, figures, ...sections.map(sectionText)].join('\n'));
}

function sectionText({title, note, blocks}: Section): string {
  const words = note === undefined ? '' : `${escaped(note)}\n\n`;
  return `## ${escaped(title)}\n\n${words}${blocks.map(blockText).join('\n')}`;
}

function blockText(block: Block): string {
  return `**${escaped(block.caption)}**\n\n${blockTable(block)}`;
}

function blockTable(block: Block): string {
  switch (block.kind) {
    case 'table':
      return tableOf(block.head, block.rows, block.texts);
    case 'ranking':
      return tableOf(
        [block.what, 'count', 'share'],
        block.rows.map(({name, count: times}) => [name, count(times), percent(times, block.of)]),
      );
    case 'stacks':
      return tableOf(
        [block.what, ...block.keys.map(({name}) => name)],
        block.rows.map(({name, counts}) => [name, ...counts.map(count)]),
      );
    case 'histogram':
      return tableOf(
        [block.what, 'rows'],
        block.bins.map(({name, count: rows}) => [name, count(rows)]),
      );
    case 'lines':
      return timeTable(block);
    default:
      return block satisfies never;
  }
}

/** Maximum rows of a table of values over time. The HTML report shows all points. */
const MOST_TIMES = 10;

function timeTable({ends, series, unit}: LinesBlock): string {
  const step = Math.max(1, Math.ceil(ends.length / MOST_TIMES));
  const rows = ends.flatMap((end, index) =>
    index % step !== step - 1 && index !== ends.length - 1
      ? []
      : [
          [
            duration(end),
            ...series.map(({values}) => (typeof values[index] === 'number' ? count(values[index]) : '–')),
          ],
        ],
  );
  return tableOf(['at', ...series.map(({name}) => `${name}, ${unit}`)], rows);
}

function tableOf(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  texts: readonly number[] = [],
): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |\n`;
  const rule = head.map((_, index) => (index === 0 || texts.includes(index) ? '---' : '---:'));
  return `${line(head)}| ${rule.join(' | ')} |\n${rows.map(line).join('')}`;
}

/**
 * Escapes a text, so that texts from answers and paths do not become Markdown, HTML or links, and do not end their
 * line. GitHub turns URLs and @mentions into links even after a backslash, but not if they contain an HTML
 * element. So each gets a `<wbr>`.
 */
function escaped(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\`*_{}[\]<>|#~&]/g, character => `\\${character}`)
    .replace(/@|:(?=\/\/)|www(?=\.)/gi, begun => `${begun}<wbr>`);
}

import {withoutControls} from '../format.ts';
import {cellText, type Report, type ReportTable, type Section} from '../model.ts';

/** The report as Markdown (GitHub's): the same words and figures, charts as tables. */
export function renderMarkdown({title, status, lead, facts, sections}: Report): string {
  const head = `# ${escaped(title)}: ${status.text}\n\n${escaped(lead)}\n`;
  const figures = facts.map(
    ({label, value, note}) => [label, note === undefined ? value : `${value} (${note})`] as const,
  );
  return withoutControls(
    [head, tableOf({head: ['', ''], rows: figures}), ...sections.map(sectionText)].join('\n'),
  );
}

function sectionText({title, note, blocks}: Section): string {
  const words = note === undefined ? '' : `${escaped(note)}\n\n`;
  return `## ${escaped(title)}\n\n${words}${blocks.map(blockText).join('\n')}`;
}

/** Maximum rows of a table of values over time. The HTML report shows all points. */
const MOST_TIMES = 10;

function blockText(block: ReportTable): string {
  const {caption, chart, rows} = block;
  const isTimed = chart?.kind === 'lines';
  const step = isTimed ? Math.max(1, Math.ceil(rows.length / MOST_TIMES)) : 1;
  const shown = rows.filter((_, index) => index % step === step - 1 || index === rows.length - 1);
  const unit = isTimed ? `, ${chart.unit}` : '';
  return `**${escaped(caption + unit)}**\n\n${tableOf({...block, rows: shown})}`;
}

function tableOf({head, rows, texts = []}: Pick<ReportTable, 'head' | 'rows' | 'texts'>): string {
  const line = (cells: readonly string[]) => `| ${cells.map(escaped).join(' | ')} |\n`;
  const rule = head.map((_, index) => (index === 0 || texts.includes(index) ? '---' : '---:'));
  return `${line(head)}| ${rule.join(' | ')} |\n${rows.map(row => line(row.map(cellText))).join('')}`;
}

/**
 * No text becomes Markdown, HTML or a link, or ends its line. GitHub turns URLs and @mentions into links even after a
 * backslash, but not if they contain an HTML element. So each gets a `<wbr>`.
 */
function escaped(text: string): string {
  return text
    .replace(/[\r\n]+/g, ' ')
    .replace(/[\\`*_{}[\]<>|#~&]/g, character => `\\${character}`)
    .replace(/@|:(?=\/\/)|www(?=\.)/gi, begun => `${begun}<wbr>`);
}

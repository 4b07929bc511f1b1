import {raw, html as template} from 'hono/html';

/** Text that is HTML already. */
export type Markup = ReturnType<typeof raw>;

type MarkupPart = string | number | Markup | readonly Markup[] | undefined;

/** HTML with all texts in it escaped; what is {@link Markup} goes in as it is. */
export function html(texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  // It is a promise only where a part is one.
  return template(texts, ...parts) as Markup;
}

export {raw};

/**
 * A text that breaks where a code does, behind `_`, and behind `.` and `/` between letters, before it breaks inside
 * a word.
 */
export function breakable(text: string): Markup {
  const parts = text.split(/(?<=_|[a-z][./])(?=[a-z])/i);
  return html`${parts.map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
}

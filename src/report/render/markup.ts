import {raw, html as template} from 'hono/html';

/** Text that is already HTML. */
export type Markup = ReturnType<typeof raw>;

type MarkupPart = string | number | Markup | readonly Markup[] | undefined;

/** HTML with all texts escaped; {@link Markup} is inserted as it is. */
export function html(texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  // The result is a promise only if a part is one.
  return template(texts, ...parts) as Markup;
}

export {raw};

/** A text that breaks behind `_`, or behind `.` and `/` between letters, before it breaks inside a word. */
export function breakable(text: string): Markup {
  const parts = text.split(/(?<=_|[a-z][./])(?=[a-z])/i);
  return html`${parts.map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
}

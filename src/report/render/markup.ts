import {raw, html as template} from 'hono/html';

/** Text that is already HTML. */
export type Markup = ReturnType<typeof raw>;

type MarkupPart = string | number | Markup | readonly Markup[] | undefined;

/** HTML with all texts escaped; {@link Markup} is inserted as it is. */
export function html(texts: TemplateStringsArray, ...parts: readonly MarkupPart[]): Markup {
  // hono returns a promise only if a part is a promise. No part is.
  return template(texts, ...parts) as Markup;
}

export {raw};

/** Lets a browser break a name such as `ip.asn_organization` behind `_`, `.` and `/`, not inside a word. */
export function addBreaks(text: string): Markup {
  const parts = text.split(/(?<=_|[a-z][./])(?=[a-z])/i);
  return html`${parts.map((part, index) => (index === 0 ? html`${part}` : html`<wbr>${part}`))}`;
}

import {raw, html as template} from 'hono/html';

/** Text that is HTML already. */
export type Markup = ReturnType<typeof raw>;

type Part = string | number | Markup | readonly Markup[] | undefined;

/** HTML with all texts in it escaped; what is {@link Markup} goes in as it is. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  // It is a promise only where a part is one.
  return template(texts, ...parts) as Markup;
}

export {raw};

import {markedNumber} from './exact-numbers.ts';

/** Removes the key from a parsed body. `body` is the same body as text. */
export type Redact = (parsed: unknown, body: string) => unknown;

/** Minimum length of a key that is removed. A shorter key may occur in an answer by chance. */
const SHORTEST_SECRET = 8;
const REPLACEMENT = '[key]';

/** Field names that repeat the value are counted under this name, so that no summary shows them. */
export const NAMED_BY_VALUE = '[value]';
/** Parameters that hold no personal data. Codes and names from the service may repeat their values. */
const PLAIN = new Set(['action_id']);
/** Minimum length of a value to look for. A shorter one may occur by chance in an error code or a name. */
const SHORTEST_VALUE = 4;

/**
 * Removes the key from answers that repeat the request, so that the key gets into no output, store or log. Finds it
 * in values and names, in the {@link spellingsOf} it.
 */
export function createRedactor(key: string): Redact {
  if (key.length < SHORTEST_SECRET) return parsed => parsed;
  const spellings = spellingsOf(key);
  const clean = (text: string) => spellings.reduce((left, one) => left.replaceAll(one, REPLACEMENT), text);
  // A quick check first: parsed data can contain the key only if the body's text does, plainly or in escapes.
  return (parsed, body) =>
    body.includes('\\') || spellings.some(one => body.includes(one)) ? redacted(parsed, clean) : parsed;
}

/** True for a text of the service that repeats a value of the call. It must not get into a summary or a log. */
export function repeatsSentValue(text: string, sent: Readonly<Record<string, string>>): boolean {
  return Object.entries(sent).some(([name, value]) => {
    // Codes and identifiers have no plus, with which each phone number begins.
    const bare = value.replace(/^\+/, '');
    return (
      !PLAIN.has(name) && bare.length >= SHORTEST_VALUE && spellingsOf(bare).some(one => text.includes(one))
    );
  });
}

/** A text as it is, and as JSON within a text, a URL, a form and HTML write it. The longest come first. */
function spellingsOf(text: string): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const inUrl = encodeURIComponent(Buffer.from(text).toString());
  const inUrls = [inUrl, inUrl.replaceAll('%20', '+')];
  const inLowerCase = inUrls.map(one => one.replaceAll(/%../g, code => code.toLowerCase()));
  const inHtml = text.replaceAll(/[&<>"']/g, mark => HTML[mark] ?? mark);
  const all = [text, inJson, inJson.replaceAll('/', '\\/'), ...inUrls, ...inLowerCase, inHtml];
  return [...new Set(all)].sort((a, b) => b.length - a.length);
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function redacted(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') {
    const text = clean(value);
    return text !== value && markedNumber(value) !== undefined ? REPLACEMENT : text;
  }
  if (typeof value === 'number') return clean(String(value)) === String(value) ? value : REPLACEMENT;
  if (Array.isArray(value)) return value.map(item => redacted(item, clean));
  if (typeof value !== 'object' || value === null) return value;
  // Builds the object from pairs, since a member may be called `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [clean(name), redacted(inner, clean)]),
  );
}

import {markedNumber} from './answer-fields.ts';

/** Removes the key from a parsed body. `body` is the same body as text. */
export type Redact = (parsed: unknown, body: string) => unknown;

/** Minimum length of a key that is removed. A shorter key may occur in an answer by chance. */
const SHORTEST_SECRET = 8;
const REPLACEMENT = '[key]';

/** Field names that repeat the value are counted under this name, so that no summary shows them. */
export const REDACTED_FIELD_NAME = '[value]';
/** Parameters that hold no personal data. */
const PLAIN = new Set(['action_id']);
/** Minimum length of a value to look for. A shorter one may occur by chance in an error code or a name. */
const SHORTEST_VALUE = 4;

/** Removes the key from answers: in values and names, in the {@link spellingsOf} it, in Base64 and hexadecimal. */
export function createRedactor(key: string): Redact {
  if (key.length < SHORTEST_SECRET) return parsed => parsed;
  const coded = (['base64', 'base64url', 'hex'] as const).map(code =>
    Buffer.from(key).toString(code).replace(/=+$/, ''),
  );
  const spellings = [...spellingsOf(key), ...coded].map(text => text.replace(/[^\w\s]/g, '\\$&'));
  const anySpelling = new RegExp(spellings.join('|'), 'gi');
  const clean = (text: string) => text.replace(anySpelling, REPLACEMENT);
  // A quick check first: parsed data can contain the key only if the body's text does, plainly or in escapes.
  return (parsed, body) =>
    body.includes('\\') || body.search(anySpelling) !== -1 ? redactAll(parsed, clean) : parsed;
}

/** True for a text with a value of the call, or a part of the key: it must not get into a summary or a log. */
export function repeatsSentValue(text: string, sent: Readonly<Record<string, string>>): boolean {
  return Object.entries(sent).some(([name, value]) => {
    // Codes and identifiers have no plus, with which each phone number begins.
    const bare = value.replace(/^\+/, '');
    if (name === 'api_key') return repeatsPartOfKey(text, value);
    if (PLAIN.has(name) || bare.length < SHORTEST_VALUE) return false;
    return spellingsOf(bare).some(spelling => text.includes(spelling)) || repeatsPart(text, bare);
  });
}

/** Minimum digits of a number, and letters of a name, that tell a person by themselves. */
const SHORTEST_NUMBER = 7;
const SHORTEST_NAME = 6;

/** Characters of a key in a row that are no chance, if a digit is among them: words are in codes, too. */
const PART_OF_KEY = 8;

function repeatsPartOfKey(text: string, key: string): boolean {
  const [own, said] = [key, text].map(lettersOf) as [string, string];
  for (let at = 0; at + PART_OF_KEY <= own.length; at++) {
    const part = own.slice(at, at + PART_OF_KEY);
    if (/\d/.test(part) && said.includes(part)) return true;
  }
  return false;
}

function lettersOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
}

/** True for a text with a number's last digits, an address with other marks between its numbers, or a mailbox's name. */
function repeatsPart(text: string, value: string): boolean {
  if (/^\d+(?:\.\d+){3}$/.test(value)) return text.replace(/\D+/g, '.').includes(value);
  const digits = value.replace(/\D/g, '');
  if (/^[\d\s().-]+$/.test(value) && digits.length >= SHORTEST_NUMBER)
    return text.replace(/\D/g, '').includes(digits.slice(-SHORTEST_NUMBER));
  const name = lettersOf(value.slice(0, Math.max(0, value.lastIndexOf('@'))));
  return name.length >= SHORTEST_NAME && lettersOf(text).includes(name);
}

/** A text as it is, and as JSON within a text, a URL, a form and HTML write it. The longest come first. */
function spellingsOf(text: string): readonly string[] {
  const inJson = JSON.stringify(text).slice(1, -1);
  const inUrl = encodeURIComponent(Buffer.from(text).toString());
  const inUrls = [inUrl, inUrl.replaceAll('%20', '+')];
  const inLowerCase = inUrls.map(url => url.replaceAll(/%../g, code => code.toLowerCase()));
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

function redactAll(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === 'string') {
    const text = clean(value);
    return text !== value && markedNumber(value) !== undefined ? REPLACEMENT : text;
  }
  if (typeof value === 'number') return clean(String(value)) === String(value) ? value : REPLACEMENT;
  if (Array.isArray(value)) return value.map(item => redactAll(item, clean));
  if (typeof value !== 'object' || value === null) return value;
  // Builds the object from pairs, since a member may be called `__proto__`.
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [clean(name), redactAll(inner, clean)]),
  );
}

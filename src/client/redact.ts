import {markedNumber} from './exact-numbers.ts';

/** Removes the key from a parsed body. `body` is the same body as text. */
export type Redact = (parsed: unknown, body: string) => unknown;

/** Minimum length of a key that is removed. A shorter key may occur in an answer by chance. */
const SHORTEST_SECRET = 8;
const REPLACEMENT = '[key]';

/**
 * Removes the key from answers that repeat the request, so that the key gets into no output, store or
 * log. Finds the key in values and names, in any JSON spelling, in JSON inside JSON texts, and in
 * Base64 (basic authentication).
 */
export function redactorOf(key: string): Redact {
  if (key.length < SHORTEST_SECRET) return parsed => parsed;
  const secrets = [key, ...inBase64(key)];
  const pattern = new RegExp(secrets.map(patternOf).join('|'), 'g');
  const clean = (text: string) => text.replace(pattern, REPLACEMENT);
  // A quick check first: parsed data can contain the key only if the body's text does, plainly or in escapes.
  return (parsed, body) =>
    body.includes('\\') || secrets.some(secret => body.includes(secret)) ? redacted(parsed, clean) : parsed;
}

/**
 * Spellings of a key inside longer Base64 texts: in both alphabets, at each of the key's three possible offsets.
 */
function inBase64(key: string): readonly string[] {
  const spelled = [0, 1, 2].flatMap(before => {
    const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(key)]);
    // Leaves out characters at the ends that also encode bits of the text around the key.
    const [from, to] = [Math.ceil((before * 8) / 6), Math.floor((bytes.length * 8) / 6)];
    return (['base64', 'base64url'] as const).map(alphabet => bytes.toString(alphabet).slice(from, to));
  });
  return [...new Set(spelled)];
}

function patternOf(secret: string): string {
  return [...Array(secret.length).keys()].map(at => spellings(secret[at] ?? '', at)).join('');
}

/**
 * A pattern for all spellings of a UTF-16 code unit, plain or escaped. Each level of JSON inside JSON doubles the
 * backslashes, so any number of them matches. For a backslash in the key itself, at most 7 match: two unlimited
 * repetitions side by side make a search slow.
 */
function spellings(unit: string, at: number): string {
  const code = unit.charCodeAt(0).toString(16).padStart(4, '0');
  const literal = `\\u${code}`;
  const hex = code.replace(/[a-f]/g, digit => `[${digit}${digit.toUpperCase()}]`);
  if (unit === '\\') return `(?:\\\\{0,7}${literal}|\\\\{1,7}u${hex})`;
  // A match begins only at the first of several backslashes: otherwise many backslashes make the search slow.
  return `${at === 0 ? '(?<!\\\\)' : ''}(?:\\\\*${literal}|\\\\+u${hex})`;
}

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

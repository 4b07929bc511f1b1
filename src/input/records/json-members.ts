/**
 * The members of a JSON object in their text form: name → text of the value. If several members have the same name,
 * the last counts, as with `JSON.parse`. `text` must be a valid JSON object.
 */
export function jsonMembers(text: string): Map<string, string> {
  const members = new Map<string, string>();
  let at = afterBlanks(text, text.indexOf('{') + 1);
  while (text[at] === '"') {
    const nameEnd = endOfString(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = afterBlanks(text, afterBlanks(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    members.set(name, text.slice(start, end).trimEnd());
    at = text[end] === ',' ? afterBlanks(text, end + 1) : end;
  }
  return members;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}

/** The index after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at + 1;
}

/** The index of the comma or brace that ends the member whose value begins at `from`. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let at = from;
  while (at < text.length) {
    const character = text[at];
    if (character === '"') {
      at = endOfString(text, at);
      continue;
    }
    if (depth === 0 && (character === ',' || character === '}')) return at;
    if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    at += 1;
  }
  return at;
}

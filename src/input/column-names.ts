/**
 * The names by which columns are addressed: the header's cells. A repeated cell gets a number (`name#2`). An
 * empty cell gets its position (`column_3`). If such a name is already taken, the column gets the next free
 * number: `name#3`, `column_3#2`.
 */
export function columnNames(header: readonly string[]): string[] {
  const taken = new Set(header);
  const seen = new Set<string>();
  const next = new Map<string, number>();
  return header.map((cell, index) => {
    const name = cell.trim() === '' ? `column_${index + 1}` : cell;
    // A cell of the header takes its own name, unless an earlier cell has the same text.
    const isFree = name === cell ? !seen.has(name) : !taken.has(name);
    if (!isFree) return numbered(name, taken, next);
    seen.add(name);
    taken.add(name);
    return name;
  });
}

function numbered(name: string, taken: Set<string>, next: Map<string, number>): string {
  let number = next.get(name) ?? 2;
  while (taken.has(`${name}#${number}`)) number++;
  next.set(name, number + 1);
  taken.add(`${name}#${number}`);
  return `${name}#${number}`;
}

/** Names for the columns of a file without a header. */
export function numberedColumns(count: number): string[] {
  return Array.from({length: count}, (_, index) => `column_${index + 1}`);
}

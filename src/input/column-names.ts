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
    let own = name;
    // A cell of the header takes its own name, unless an earlier cell has the same text.
    if (name === cell ? seen.has(name) : taken.has(name)) {
      let number = next.get(name) ?? 2;
      while (taken.has(`${name}#${number}`)) number++;
      next.set(name, number + 1);
      own = `${name}#${number}`;
    }
    seen.add(own);
    taken.add(own);
    return own;
  });
}

/** Names for the columns of a file without a header. */
export function numberedColumns(count: number): string[] {
  return Array.from({length: count}, (_, index) => `column_${index + 1}`);
}

/** The candidate nearest in spelling, where one is near, else one that the word begins: for "did you mean". */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  return (
    nearest(word, candidates) ?? candidates.find(name => name.toLowerCase().startsWith(word.toLowerCase()))
  );
}

function nearest(word: string, candidates: readonly string[]): string | undefined {
  let best: {name: string; distance: number} | undefined;
  for (const name of candidates) {
    const distance = editDistance(word.toLowerCase(), name.toLowerCase());
    if (best === undefined || distance < best.distance) best = {name, distance};
  }
  // Two letters that changed places are a distance of two.
  const near = word.length < 4 ? 1 : Math.max(2, Math.floor(word.length / 3));
  return best !== undefined && best.distance <= near ? best.name : undefined;
}

/** Levenshtein's distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({length: b.length + 1}, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

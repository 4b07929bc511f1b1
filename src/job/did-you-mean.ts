import {closestMatch} from 'leven';

/** The candidate that the user probably meant: nearest in spelling, else one that begins with the typed word. */
export function closestName(word: string, candidates: readonly string[]): string | undefined {
  const typed = word.toLowerCase();
  const names = candidates.map(name => name.toLowerCase());
  // Two swapped letters are a distance of two, so words of four letters or more may have that distance.
  const maxDistance = typed.length < 4 ? 1 : Math.max(2, Math.floor(typed.length / 3));
  const letters = (name: string) => [...name].sort().join('');
  const swapped = names.findIndex(name => letters(name) === letters(typed));
  if (swapped >= 0) return candidates[swapped];
  const near = closestMatch(typed, names, {maxDistance});
  return candidates[
    near === undefined ? names.findIndex(name => name.startsWith(typed)) : names.indexOf(near)
  ];
}

/** The end of a message, with a space before it: a suggestion, or `otherwise` if no candidate is near. */
export function didYouMean(given: string, candidates: readonly string[], otherwise = ''): string {
  const near = closestName(given, candidates);
  const said = near === undefined ? otherwise : `Did you mean "${near}"?`;
  return said && ` ${said}`;
}

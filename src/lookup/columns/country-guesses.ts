import type {CountryChoice} from './country-column.ts';
import type {Guess} from './guess.ts';

/** Returns a sure guess for each chosen country column, and an unsure one for each that is only possible. */
export function guessCountries(
  choices: readonly (readonly [phone: string | undefined, choice: CountryChoice])[],
): Guess[] {
  const guesses = choices.flatMap(([phone, choice]) => {
    if (choice === undefined) return [];
    const confidence = 'found' in choice ? ('sure' as const) : ('unsure' as const);
    const row = 'found' in choice ? undefined : choice.row;
    const some = 'found' in choice ? [choice.found] : choice.torn;
    return some.map(
      ({column, share}): Guess => ({
        operation: 'country',
        column: column.name,
        confidence,
        share,
        national: 0,
        listed: 0,
        ofKind: share,
        values: 0,
        distinct: 0,
        header: 'plain',
        numbers: phone === undefined ? [] : [phone],
        row,
      }),
    );
  });
  const byName = new Map<string, Guess>();
  for (const guess of guesses) {
    const name = `${guess.confidence} ${guess.column}`;
    const before = byName.get(name);
    byName.set(name, {...guess, ...before, numbers: [...(before?.numbers ?? []), ...(guess.numbers ?? [])]});
  }
  return [...byName.values()];
}

/** JSON of others nested deeper than this is not followed: real data has a few levels. */
export const MOST_LEVELS = 100;

/**
 * True if a value is nested deeper than that. Check it before `JSON.stringify` and other recursive functions: they
 * overflow the stack at a few thousand levels, while `JSON.parse` reads any number.
 */
export function nestsTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(inner => nestsTooDeep(inner, levels - 1));
}

/** JSON of others that is nested deeper than this is not followed further: real data has a few levels. */
export const MOST_LEVELS = 100;

/**
 * Whether a value is nested deeper than that. To be asked before `JSON.stringify` and whatever else calls itself for
 * each level, which overflow the stack at a few thousand, while `JSON.parse` takes any number.
 */
export function nestsTooDeep(value: unknown, levels = MOST_LEVELS): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some(inner => nestsTooDeep(inner, levels - 1));
}

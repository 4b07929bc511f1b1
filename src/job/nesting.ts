/** Maximum levels of nesting in data from users and services. Real data has a few levels. */
export const MAX_NESTING = 100;

/**
 * True if a value is nested deeper than `levels`. Call this before `JSON.stringify` and other recursive functions:
 * they overflow the stack at a few thousand levels, while `JSON.parse` reads any number of levels.
 */
export function nestsTooDeep(value: unknown, levels = MAX_NESTING): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value))
    if (typeof inner === 'object' && nestsTooDeep(inner, levels - 1)) return true;
  return false;
}

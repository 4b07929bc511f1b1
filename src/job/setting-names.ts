/** `maxCredits` → `max-credits` with `-` (flags), `max_credits` with `_` (job files). */
export function spelled(name: string, joiner: '-' | '_'): string {
  return name.replace(/[A-Z]/g, letter => `${joiner}${letter.toLowerCase()}`);
}

/** `max-credits` (flags) or `max_credits` (job files) → `maxCredits` (code). */
export function camelCase(key: string): string {
  return key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

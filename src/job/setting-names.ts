/** `maxCredits` → `max-credits` (flags), or with `_` (job files). */
export function spelled(name: string, joiner: '-' | '_'): string {
  return name.replace(/[A-Z]/g, letter => `${joiner}${letter.toLowerCase()}`);
}

/** The other way: a flag's or a job file's name as it is in code. */
export function camelCase(key: string): string {
  return key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

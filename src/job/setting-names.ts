/** How a setting is written where one is asked for: `--resends 2`, `resends: 2`. */
export type Write = (name: string, value: string) => string;

/** What to write now, by the name that a setting had before. */
const former: Readonly<Record<string, (write: Write) => string>> = {
  maxAttempts: write => `${write('resends', 'N')}, which is one less`,
  maxResends: write => write('resends', 'N'),
  resend: write => `${write('resends', '0')} for never, and nothing for always`,
};

/** The sentence on a setting that has another name now, by its name in code; undefined for all others. */
export function writtenNow(name: string, write: Write): string | undefined {
  const now = Object.hasOwn(former, name) ? former[name] : undefined;
  return now && `write ${now(write)}`;
}

/** As flags are written. */
export const asFlag: Write = (name, value) => `--${spelled(name, '-')} ${value}`;

/** `maxCredits` → `max-credits` (flags), or with `_` (job files). */
export function spelled(name: string, joiner: '-' | '_'): string {
  return name.replace(/[A-Z]/g, letter => `${joiner}${letter.toLowerCase()}`);
}

/** The other way: a flag's or a job file's name as it is in code. */
export function camelCase(key: string): string {
  return key.replace(/[_-]([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

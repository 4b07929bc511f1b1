/** Settings that were removed, by their names in the schema, with what to write now. */
const formerSettings: Readonly<Record<string, string>> = {
  threads:
    'Leave it out: one process makes 3,500 to 5,000 calls a second. For more, start workers on other machines (docs/fleet.md).',
};

/** What to write now in place of a setting that was removed; undefined for any other name. */
export function sinceRemoved(name: string): string | undefined {
  return Object.hasOwn(formerSettings, name) ? formerSettings[name] : undefined;
}

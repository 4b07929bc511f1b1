/** Values for a condition, by the names of its vocabulary. Unknown values are left out. */
export type Facts = Readonly<Record<string, unknown>>;

/** Reads the value at a path; undefined without one. */
export function reader(path: readonly string[]): (facts: Facts) => unknown {
  const [root = '', field = '', ...deeper] = path;
  if (path.length === 1) return facts => facts[root];
  if (deeper.length === 0) return facts => fieldOf(facts[root], field);
  return facts => deeper.reduce(fieldOf, fieldOf(facts[root], field));
}

function fieldOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}

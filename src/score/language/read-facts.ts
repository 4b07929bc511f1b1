/** What a condition is decided by: values by the names of its vocabulary; what is not known is not in it. */
export type Facts = Readonly<Record<string, unknown>>;

/** Reads what stands at a path; undefined where nothing does. */
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

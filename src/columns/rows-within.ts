/** A field whose text is a JSON object, with the filter of jq that adds what it has; undefined without one. */
export function jsonTextWithin(
  value: Readonly<Record<string, unknown>>,
  above: readonly string[] = [],
): {readonly name: string; readonly filter: string} | undefined {
  for (const [key, inner] of Object.entries(value)) {
    const path = [...above, key];
    if (typeof inner === 'string' && isObjectText(inner))
      return {name: path.join('.'), filter: `. + (getpath(${JSON.stringify(path)}) | fromjson? // {})`};
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    const found = isObject ? jsonTextWithin(inner as typeof value, path) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

const PLAIN_KEY = /^[a-z_]\w*$/i;

function isObjectText(text: string): boolean {
  try {
    return /^\s*\{/.test(text) && typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

/**
 * The filter of jq for the rows that an export wraps in an object: `{"rows": [{…}]}`, Elasticsearch's
 * `{"hits": {"hits": [{"_source": …}]}}`, and columns apart from their data, as pandas writes them (`orient="split"`).
 */
export function rowsWithin(
  value: Readonly<Record<string, unknown>>,
  above = '',
): {readonly name: string; readonly filter: string} | undefined {
  const {columns, data} = value;
  if (Array.isArray(columns) && Array.isArray(data) && Array.isArray(data[0])) {
    const row = '[$names, .] | transpose | map({(.[0] | tostring): .[1]}) | add';
    return {
      name: `${above}.data`.slice(1),
      filter: `${above || '.'} | .columns as $names | .data[] | ${row}`,
    };
  }
  for (const [name, inner] of Object.entries(value)) {
    if (!PLAIN_KEY.test(name) || typeof inner !== 'object' || inner === null) continue;
    const place = `${above}.${name}`;
    const [first] = Array.isArray(inner) ? inner : [];
    if (typeof first === 'object' && first !== null)
      return {name: place.slice(1), filter: `${place}[]${'_source' in first ? '._source' : ''}`};
    const within = Array.isArray(inner) ? undefined : rowsWithin(inner as typeof value, place);
    if (within !== undefined) return within;
  }
  return undefined;
}

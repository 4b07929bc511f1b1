import {UsageError} from '../errors.ts';
import {jsonMembers} from '../input/records/json-reader.ts';
import type {InputRecord} from '../input/row.ts';
import {MAX_NESTING} from '../job/yaml.ts';
import {say, set} from '../sentence.ts';

/** Maximum number of columns. Files with more usually have objects whose keys are data, such as identifiers. */
const MOST_COLUMNS = 2_000;

/**
 * The members of a JSON object, with their values as text. Members of nested objects have dotted paths:
 * `user.name`. Lists and empty objects stay whole, as do objects below {@link MAX_NESTING} levels. If two members
 * have the same path, the second gets the path `path#2`, as the second of two equal CSV headers does.
 */
export function flatMembers(raw: string): Map<string, string> {
  const flat = new Map<string, string>();
  const add = (text: string, prefix: string, levels: number) => {
    for (const [name, value] of jsonMembers(text)) {
      const path = `${prefix}${name}`;
      const opens = levels > 1 && value.startsWith('{') && !/^\{\s*\}$/.test(value);
      if (opens) add(value, `${path}.`, levels - 1);
      else flat.set(flat.has(path) ? unused(path, flat) : path, value);
    }
  };
  add(raw, '', MAX_NESTING);
  return flat;
}

function unused(path: string, taken: ReadonlyMap<string, string>): string {
  let times = 2;
  while (taken.has(`${path}#${times}`)) times += 1;
  return `${path}#${times}`;
}

/**
 * Paths of all fields in the sample's rows, in order of first appearance.
 *
 * @throws {UsageError} if there are more than {@link MOST_COLUMNS}.
 */
export function listFlatColumns(sample: readonly InputRecord[]): string[] {
  const paths = new Set<string>();
  for (const record of sample) {
    if (record.type !== 'ndjson') continue;
    for (const path of flatMembers(record.raw).keys()) paths.add(path);
    if (paths.size > MOST_COLUMNS)
      throw new UsageError(
        'too_many_columns',
        say`${set('flatten', true)}: the first rows alone have more than ${MOST_COLUMNS} different fields, so they can't be columns. Leave it out: each inner object is then one column of JSON.`,
      );
  }
  return [...paths];
}

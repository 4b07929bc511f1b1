import {randomUUID} from 'node:crypto';
import {
  type Fields,
  type FieldType,
  fieldTypes,
  JSON_NUMBER_PATTERN,
  type ValueType,
} from '../operations/fields.ts';
import type {Operation} from '../operations/table.ts';

/** A parsed answer. In `kept` and `data`, numbers may be marked strings ({@link markNumber}). */
export interface ParsedAnswer {
  /** All fields. Each is converted to the interface's type if the conversion loses nothing. */
  readonly kept: Readonly<Record<string, unknown>>;
  /** All fields in `kept` except those of a wrong type. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Dotted names of unknown fields, and of fields of a wrong type. */
  readonly unknownFields: readonly string[];
  readonly wrongTypes: readonly string[];
}

/** Reads an answer by the interface's types, without nulls. `isMarked`: numbers may be from {@link markNumber}. */
export function readAnswerFields(
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
  isMarked: boolean,
): ParsedAnswer {
  const unknown = new Set<string>();
  if (!isMarked && isOfType(fields, given, '', unknown))
    return {kept: given, data: given, unknownFields: [...unknown], wrongTypes: []};
  const odd = {unknownFields: new Set<string>(), wrongTypes: new Set<string>()};
  const kept = convertFields(fields, given, '', odd);
  const data = odd.wrongTypes.size === 0 ? kept : (withoutMistyped(fields, kept) as ParsedAnswer['data']);
  return {kept, data, unknownFields: [...odd.unknownFields], wrongTypes: [...odd.wrongTypes]};
}

/** Fields of an answer that a sentence names. */
const MOST_NAMED = 5;
/** A field name that is one: other names may be values, such as addresses. */
const FIELD_NAME = /^[A-Za-z_][\w.-]{0,63}$/;

/** Lists names that the service chose for fields: the first few, and how many more came. */
export function listFieldNames(names: readonly string[]): string {
  const named = names.filter(name => FIELD_NAME.test(name)).slice(0, MOST_NAMED);
  const more = names.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Returns a parsed answer without its fields of a wrong type. */
export function dropMistypedFields(operation: Operation, kept: unknown): unknown {
  const fields = fieldTypes[operation];
  return !isObject(kept) || isOfType(fields, kept) ? kept : withoutMistyped(fields, kept);
}

/** True if the value has the type as it is, as most have: this takes a third of {@link convert}. Adds to `unknown`. */
function isOfType(type: FieldType, value: unknown, path = '', unknown?: Set<string>): boolean {
  if ('read' in type) return type.read(value) === value;
  if ('items' in type)
    return Array.isArray(value) && value.every(item => isOfType(type.items, item, path, unknown));
  if (!isObject(value)) return false;
  for (const name of Object.keys(value)) {
    const field = type.get(name);
    const inner = value[name];
    if (inner === null) return false;
    if (field === undefined) unknown?.add(path + name);
    // Most values are plain. They are judged here, without a recursive call.
    else if ('plain' in field && typeof inner === field.plain && inner !== Infinity && inner !== -Infinity)
      continue;
    else if (!isOfType(field, inner, `${path}${name}.`, unknown)) return false;
  }
  return true;
}

interface OddFields {
  readonly unknownFields: Set<string>;
  readonly wrongTypes: Set<string>;
}

/** Converts the fields of an object. A field may be called `__proto__`, so the object is built from pairs. */
function convertFields(
  fields: Fields,
  given: Readonly<Record<string, unknown>>,
  path: string,
  odd: OddFields,
): Readonly<Record<string, unknown>> {
  const kept = Object.entries(given).flatMap(([name, value]) => {
    if (value === null) return [];
    const type = fields.get(name);
    if (type === undefined) odd.unknownFields.add(path + name);
    return [[name, type === undefined ? value : convert(type, value, path + name, odd)]];
  });
  return Object.fromEntries(kept);
}

/** The value in its type, as far as it can be converted. */
function convert(type: FieldType, value: unknown, path: string, odd: OddFields): unknown {
  if ('read' in type) {
    const read = readValue(type, value);
    if (read !== undefined) return read;
  } else if ('items' in type) {
    if (Array.isArray(value)) return value.map(item => convert(type.items, item, path, odd));
  } else if (isObject(value)) return convertFields(type, value, `${path}.`, odd);
  odd.wrongTypes.add(path);
  return value;
}

/**
 * The value without fields of a wrong type; undefined if it is of a wrong type itself. A list with such an item is left
 * out: without that item it would be a different list.
 */
function withoutMistyped(type: FieldType, kept: unknown): unknown {
  if ('read' in type) return readValue(type, kept);
  if ('items' in type) {
    const items = Array.isArray(kept) ? kept.map(item => withoutMistyped(type.items, item)) : [undefined];
    return items.includes(undefined) ? undefined : items;
  }
  if (!isObject(kept)) return undefined;
  const used = Object.entries(kept).flatMap(([name, inner]) => {
    const field = type.get(name);
    const value = field === undefined ? inner : withoutMistyped(field, inner);
    return value === undefined ? [] : [[name, value]];
  });
  return Object.fromEntries(used);
}

/** Converts a value to the field's type, keeping a number's spelling, such as 1.10; undefined if that is impossible. */
function readValue({read}: ValueType, value: unknown): unknown {
  const spelled = markedNumber(value);
  if (spelled === undefined) {
    const result = read(value);
    return typeof result === 'number' && String(result) !== String(value)
      ? markNumber(String(value))
      : result;
  }
  const result = read(Number(spelled));
  if (typeof result === 'number') return value;
  return typeof result === 'string' ? spelled : undefined;
}

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

// Numbers keep their spelling, such as 12345678901234567890, 1.10 and 1e400: they are strings with a mark.

/** The mark before a number's spelling. Random, so that no service can send it by chance. */
const MARK = `#${randomUUID()}:`;
const STRING_OR_NUMBER = new RegExp(`"[^"\\\\]*(?:\\\\.[^"\\\\]*)*"|${JSON_NUMBER_PATTERN}`, 'g');
const MARKED = new RegExp(`"${MARK}(${JSON_NUMBER_PATTERN})"`, 'g');
/** Matches every text with a number that a double would spell differently, and some others. */
const SUSPECT = /[\d.]{16}|\d[eE]|\.\d*0(?!\d)|-0|\.0{6}/;
/** The same where JSON text may have a number, and not within its texts, as in a postal code. It takes longer. */
const SUSPECT_NUMBER = /(?:^|[:,[\s])-?(?:(?<=-)0|[\d.]{16}|\d+(?:\.\d+)?[eE]|\d+\.(?:\d*0(?!\d)|0{6}))/;

/** JSON text with marks on the numbers that would lose their spelling; `json` itself without such a number. */
export function markNumbers(json: string): string {
  if (!SUSPECT.test(json) || !SUSPECT_NUMBER.test(json)) return json;
  return json.replace(STRING_OR_NUMBER, token =>
    token.startsWith('"') || String(Number(token)) === token ? token : JSON.stringify(markNumber(token)),
  );
}

function markNumber(spelled: string): string {
  return `${MARK}${spelled}`;
}

/** Returns JSON text without marks: each marked number as the answer spelled it. */
export function unmarkNumbers(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$1') : json;
}

/** The spelling of a marked number; undefined for anything else. */
export function markedNumber(value: unknown): string | undefined {
  return typeof value === 'string' && value.startsWith(MARK) ? value.slice(MARK.length) : undefined;
}

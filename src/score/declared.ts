import type {Declare} from '../cel/engine.ts';
import {ENGINE_NAMES} from '../cel/written.ts';
import type {RuleVocabulary, Type} from './language/vocabulary.ts';

/**
 * Makes the function that declares a vocabulary in an expression engine. Members of lists get types only for the
 * check of an expression. At run time the engine would refuse a typed member, such as `rules[0]` of an answer.
 */
export function declaredIn(vocabulary: RuleVocabulary): Declare {
  return (environment, use) => {
    let items = 0;
    const itemType = (fields: Record<string, unknown>) => {
      if (use === 'run') return 'dyn';
      items += 1;
      environment.registerType(`Item${items}`, {fields: fields as Record<string, string>});
      return `Item${items}`;
    };
    for (const [name, type] of Object.entries(vocabulary)) {
      const declared = celType(type, itemType);
      const known = name === 'list' ? ENGINE_NAMES.list : name;
      if (typeof declared === 'string') environment.registerVariable(known, declared);
      else environment.registerVariable({name: known, schema: declared as Record<string, string>});
    }
  };
}

const simple = {
  columns: 'map<string, string>',
  counts: 'map<string, double>',
  // Declared as a map, so that `in` finds a text by its hash.
  set: 'map<string, bool>',
  timestamp: 'google.protobuf.Timestamp',
} as const;

function celType(
  type: Type,
  itemType: (fields: Record<string, unknown>) => string,
): string | Record<string, unknown> {
  if (type.kind === 'object')
    return Object.fromEntries(
      Object.entries(type.fields).map(([name, inner]) => [name, celType(inner, itemType)]),
    );
  if (type.kind !== 'list') return type.kind in simple ? simple[type.kind as keyof typeof simple] : type.kind;
  const inner = celType(type.of, itemType);
  return `list<${typeof inner === 'string' ? inner : itemType(inner)}>`;
}

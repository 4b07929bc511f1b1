import type {ASTNode} from '@marcbachmann/cel-js';
import {UsageError} from '../../errors.ts';
import {closest} from '../../job/closest.ts';
import {boundIn, childrenOf, hasPath, LOOPS, literalText, pathOf} from './ast.ts';
import type {Codes} from './codes.ts';
import {type Declare, Engine, type Evaluate} from './engine.ts';
import {explained, shown} from './explained.ts';
import {type RuleVocabulary, type Type, typeAt, UnknownName} from './vocabulary.ts';
import {ENGINE_NAMES, parsed} from './written.ts';

/** A path that an expression reads, such as `ip.is_vpn`. */
export interface Reference extends ReadField {
  /** The path with dots, also if the expression has brackets: `ip.is_vpn`. */
  readonly name: string;
}

/** A field, as a condition reads it. */
export interface ReadField {
  readonly path: readonly string[];
  readonly type: Type | undefined;
  /** True if the path is used in `has(…)` only: the field may be missing, but its answer may not. */
  readonly optional: boolean;
}

/** A parsed CEL expression, checked with the names and types of `vocabulary`. */
export interface Expression {
  readonly ast: ASTNode;
  readonly vocabulary: RuleVocabulary;
  runnable(node: ASTNode): Evaluate;
}

/**
 * Parses conditions and checks their names, types, patterns and codes.
 *
 * @throws {UsageError} for a fault. Its message begins with `place`, and suggests a known name for an unknown name.
 */
export type CheckCondition = (text: string, place: string) => Expression;

/** Makes a checker of conditions over these names. Making one takes a few milliseconds. */
export function conditionChecker(vocabulary: RuleVocabulary): CheckCondition {
  const engine = new Engine(declaredIn(vocabulary));
  const constants = {constant: constantsIn(vocabulary)};
  return (text, place) => {
    const wrong = (reason: string) =>
      new UsageError(
        'expression',
        `${place}: ${explained(reason, text).replace(/(?<![.?])$/, '.')} The expression: ${shown(text)}`,
      );
    try {
      const ast = parsed(text);
      referencesOf(ast, vocabulary);
      const type = engine.typeOf(ast, constants);
      if (type !== 'bool' && type !== 'dyn') throw wrong(`expected a condition, not a ${type}`);
      checkLiterals(ast, vocabulary);
      // Throws if the expression is nested too deep to run: `prepare` adds calls that nest it deeper.
      engine.prepare(ast);
      return {ast, vocabulary, runnable: node => engine.prepare(node)};
    } catch (error) {
      if (error instanceof UsageError) throw error;
      if (error instanceof UnknownName) throw wrong(error.message);
      throw wrong((error as {summary?: string}).summary ?? (error as Error).message);
    }
  };
}

function constantsIn({constant}: RuleVocabulary): Readonly<Record<string, unknown>> {
  const fields = constant?.kind === 'object' ? Object.entries(constant.fields) : [];
  return Object.fromEntries(fields.map(([name, type]) => [name, 'value' in type ? type.value : undefined]));
}

/**
 * All paths that a part of an expression reads, without those of a loop's own variables (`bound`).
 *
 * @throws {UnknownName} if a path does not exist.
 */
export function referencesOf(
  node: ASTNode,
  vocabulary: RuleVocabulary,
  bound: ReadonlySet<string> = new Set(),
): Reference[] {
  const path = pathOf(node);
  if (path !== undefined) {
    if (bound.has(path[0] as string)) return [];
    return [{path, name: path.join('.'), type: typeAt(vocabulary, path), optional: false}];
  }
  if (node.op === 'rcall' && LOOPS.has(node.args[0])) {
    const [, receiver, [, ...rest]] = node.args;
    const inner = boundIn(node, bound);
    return [
      ...referencesOf(receiver, vocabulary, bound),
      ...rest.flatMap(child => referencesOf(child, vocabulary, inner)),
    ];
  }
  const children = childrenOf(node).flatMap(child => referencesOf(child, vocabulary, bound));
  return hasPath(node) === undefined ? children : children.map(child => ({...child, optional: true}));
}

/**
 * Makes the function that declares a vocabulary in an expression engine. Members of lists get types only for the
 * check of an expression. At run time the engine would refuse a typed member, such as `rules[0]` of an answer.
 */
function declaredIn(vocabulary: RuleVocabulary): Declare {
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

/**
 * Refuses a text that is compared with codes but is not one of them: `status.ip == "Invalid"` would never hold.
 *
 * @throws {UnknownName} for such a text. Its message suggests the nearest code.
 */
function checkLiterals(
  node: ASTNode,
  vocabulary: RuleVocabulary,
  bound: ReadonlySet<string> = new Set(),
): void {
  for (const [read, texts] of comparedIn(node)) {
    const path = pathOf(read);
    const type = path === undefined || bound.has(path[0] ?? '') ? undefined : typeAt(vocabulary, path);
    if (type?.kind !== 'string' || type.codes === undefined) continue;
    for (const given of texts) {
      const text = literalText(given);
      if (text !== undefined) checkCode(text, type.codes);
    }
  }
  const inner = boundIn(node, bound);
  for (const child of childrenOf(node)) checkLiterals(child, vocabulary, inner);
}

/** Each operand that a node compares, with the operands that it is compared with. */
function comparedIn(node: ASTNode): readonly (readonly [ASTNode, readonly ASTNode[]])[] {
  if (node.op === '==' || node.op === '!=') {
    const [left, right] = node.args;
    return [
      [left, [right]],
      [right, [left]],
    ];
  }
  return node.op === 'in' && node.args[1].op === 'list' ? [[node.args[0], node.args[1].args]] : [];
}

function checkCode(text: string, {what, known, like, otherwise = ''}: Codes): void {
  if (known.includes(text) || like?.test(text)) return;
  const near = text === '' ? undefined : closest(text, known);
  const hint = near === undefined ? `Known: ${known.filter(Boolean).join(', ')}.` : `Did you mean "${near}"?`;
  throw new UnknownName(`there is no ${what} "${text}". ${hint} ${otherwise}`.trim());
}

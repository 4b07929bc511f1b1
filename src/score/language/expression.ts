import type {ASTNode, Environment} from '@marcbachmann/cel-js';
import {UsageError} from '../../errors.ts';
import {closestName} from '../../sentence.ts';
import {findPaths, listChildren, literalText, pathOfNode, type ReadPath} from './ast.ts';
import {type Constants, Engine, LIST_ALIAS, parseExpression} from './cel-engine.ts';
import {explainError, truncateText} from './explain-error.ts';
import {
  type AllowedTexts,
  type ExpressionType,
  type RuleVocabulary,
  typeAtPath,
  UnknownNameError,
} from './rule-variables.ts';

/** A path that an expression reads, such as `ip.is_vpn`. */
export interface PathReference {
  readonly path: readonly string[];
  /** The path with dots, also if the expression has brackets: `ip.is_vpn`. */
  readonly name: string;
  readonly type: ExpressionType | undefined;
  /** True if the path is used in `has(…)` only: the field may be missing, but its answer may not. */
  readonly optional: boolean;
}

/** A CEL expression, checked with the names and types of `vocabulary`. */
export interface Expression {
  readonly text: string;
  readonly ast: ASTNode;
  readonly references: readonly PathReference[];
  readonly vocabulary: RuleVocabulary;
  readonly engine: Engine;
}

/**
 * Makes a checker of conditions over these names, in a few milliseconds. It throws {UsageError} for a fault, with a
 * message that begins with `place` and suggests a known name for an unknown one.
 */
export function createConditionChecker(
  vocabulary: RuleVocabulary,
  constants: Constants = {},
): (text: string, place: string) => Expression {
  const engine = new Engine(environment => declare(vocabulary, environment), constants);
  return (text, place) => {
    try {
      const ast = parseExpression(text);
      const references = findPaths(ast).map(path => resolveReference(path, vocabulary));
      const type = engine.typeOf(ast);
      if (type !== 'bool' && type !== 'dyn')
        throw new UnknownNameError(`expected a condition, not a ${type}`);
      checkLiterals(ast, vocabulary);
      return {text, ast, references, vocabulary, engine};
    } catch (error) {
      const reason = error instanceof UnknownNameError ? error.message : explainError(error as Error, text);
      const sentence = reason.replace(/(?<![.?])$/, '.');
      throw new UsageError('expression', `${place}: ${sentence} The expression: ${truncateText(text)}`);
    }
  };
}

/** @throws {UnknownNameError} if the path does not exist. */
export function resolveReference({path, optional}: ReadPath, vocabulary: RuleVocabulary): PathReference {
  return {path, name: path.join('.'), type: typeAtPath(vocabulary, path), optional};
}

function declare(vocabulary: RuleVocabulary, environment: Environment): void {
  let items = 0;
  const itemType = (fields: Record<string, string>) => {
    items += 1;
    environment.registerType(`Item${items}`, {fields});
    return `Item${items}`;
  };
  for (const [root, type] of Object.entries(vocabulary)) {
    const declared = celType(type, itemType);
    const name = root === 'list' ? LIST_ALIAS : root;
    if (typeof declared === 'string') environment.registerVariable(name, declared);
    else environment.registerVariable({name, schema: declared as Record<string, string>});
  }
}

function celType(
  type: ExpressionType,
  itemType: (fields: Record<string, string>) => string,
): string | Record<string, unknown> {
  if (type.kind === 'object')
    return Object.fromEntries(
      Object.entries(type.fields).map(([name, inner]) => [name, celType(inner, itemType)]),
    );
  if (type.kind === 'map') return `map<string, ${celType(type.of, itemType)}>`;
  if (type.kind !== 'list') return type.kind === 'timestamp' ? 'google.protobuf.Timestamp' : type.kind;
  const inner = celType(type.of, itemType);
  return `list<${typeof inner === 'string' ? inner : itemType(inner as Record<string, string>)}>`;
}

/**
 * @throws {UnknownNameError} for a text that is compared with codes but is not a code: `status.ip == "Invalid"` would never
 * hold.
 */
function checkLiterals(node: ASTNode, vocabulary: RuleVocabulary, bound?: ReadonlySet<string>): void {
  for (const [read, texts] of comparedIn(node)) {
    const [free] = pathOfNode(read) === undefined ? [] : findPaths(read, bound);
    const type = free === undefined ? undefined : typeAtPath(vocabulary, free.path);
    if (type?.kind !== 'string' || type.codes === undefined) continue;
    for (const given of texts) {
      const text = literalText(given);
      if (text !== undefined) checkCode(text, type.codes);
    }
  }
  for (const child of listChildren(node, bound)) checkLiterals(child.node, vocabulary, child.bound);
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

function checkCode(text: string, {what, known, like, otherwise = ''}: AllowedTexts): void {
  if (known.includes(text) || like?.test(text)) return;
  const near = text === '' ? undefined : closestName(text, known);
  const hint = near === undefined ? `Known: ${known.filter(Boolean).join(', ')}.` : `Did you mean "${near}"?`;
  throw new UnknownNameError(`there is no ${what} "${text}". ${hint} ${otherwise}`.trim());
}

import type {ASTNode} from '@marcbachmann/cel-js';
import {boundIn, childrenOf, hasPath, LOOPS, pathOf} from '../../cel/ast.ts';
import {Engine, type Evaluate} from '../../cel/engine.ts';
import {explained, shown} from '../../cel/explained.ts';
import {parsed} from '../../cel/written.ts';
import {UsageError} from '../../errors.ts';
import {declaredIn} from '../declared.ts';
import {checkLiterals} from './literals.ts';
import {type RuleVocabulary, type Type, typeAt, UnknownName} from './vocabulary.ts';

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

import type {ASTNode} from '@marcbachmann/cel-js';
import {childrenOf, LOOPS, literalText, pathOf} from './ast.ts';

/** Values that are known before the first row, by name. */
export type Constants = Readonly<Record<string, unknown>>;

/** The text of a literal, or of a constant; undefined for anything else. */
export function constantText(node: ASTNode | undefined, constants: Constants): string | undefined {
  const path = node === undefined ? undefined : pathOf(node);
  const text = path?.reduce<unknown>((owner, name) => Object(owner)[name], constants);
  return typeof text === 'string' ? text : literalText(node);
}

/**
 * Evaluates the constant parts of an expression. So a fault such as `duration("7d")` is found before the first row.
 *
 * @throws {Error} if a part can never be right. Its message gives the reason.
 */
export function checkConstants(
  ast: ASTNode,
  constants: Constants,
  evaluate: (node: ASTNode) => unknown,
): void {
  const check = (node: ASTNode): Set<string> => {
    const names = freeNames(node, check);
    checkZone(node, constants);
    const isConstant = [...names].every(name => Object.hasOwn(constants, name));
    if (isConstant && !PLAIN.has(node.op)) evaluate(node);
    return names;
  };
  check(ast);
}

/**
 * Kinds of nodes that are not evaluated beforehand. A literal can't be wrong, a name may have no value yet, and the
 * members of lists and maps are checked by themselves.
 */
const PLAIN: ReadonlySet<ASTNode['op']> = new Set(['value', 'id', 'list', 'map']);

/** Names that a part of an expression reads, without the variables of its own loops. */
function freeNames(node: ASTNode, namesOf: (child: ASTNode) => Set<string>): Set<string> {
  if (node.op === 'id') return new Set([node.args]);
  if (node.op !== 'rcall' || !LOOPS.has(node.args[0])) return joined(childrenOf(node).map(namesOf));
  const [, receiver, [variable, ...body]] = node.args;
  const names = joined(body.map(namesOf));
  if (variable?.op === 'id') names.delete(variable.args);
  return joined([namesOf(receiver), names]);
}

function joined(all: readonly Set<string>[]): Set<string> {
  return new Set(all.flatMap(names => [...names]));
}

/** Checks a constant time zone before the first row: `t.getHours("Europe/Berlin")`. */
function checkZone(node: ASTNode, constants: Constants): void {
  if (node.op !== 'rcall' || !node.args[0].startsWith('get')) return;
  const zone = constantText(node.args[2][0], constants);
  if (zone === undefined) return;
  try {
    new Intl.DateTimeFormat('en', {timeZone: zone});
  } catch {
    throw new Error(`"${zone}" is not a time zone; one is "Europe/Berlin"`);
  }
}

import type {ASTNode} from '@marcbachmann/cel-js';
import {childrenOf, LOOPS, literalText, pathOf} from './ast.ts';

/** Names whose values are known before the first row. */
export type Constants = Readonly<Record<string, unknown>>;

/** The text of a literal, or of a constant; undefined for anything else. */
export function constantText(node: ASTNode | undefined, constants: Constants): string | undefined {
  const path = node === undefined ? undefined : pathOf(node);
  const text = path?.reduce<unknown>((owner, name) => Object(owner)[name], constants);
  return typeof text === 'string' ? text : literalText(node);
}

/**
 * Evaluates each part that is the same for all rows: `duration("7d")` would fail for every one of them.
 *
 * @throws {Error} that says why a part can never be right.
 */
export function checkConstants(
  ast: ASTNode,
  constants: Constants,
  evaluate: (node: ASTNode) => unknown,
): void {
  const check = (node: ASTNode) => {
    childrenOf(node).forEach(check);
    checkZone(node, constants);
    const isConstant = [...freeNames(node)].every(name => Object.hasOwn(constants, name));
    if (isConstant && !PLAIN.has(node.op)) evaluate(node);
  };
  check(ast);
}

/** These have a value as they are, or none of their own. */
const PLAIN: ReadonlySet<ASTNode['op']> = new Set(['value', 'id', 'list', 'map']);

/** The names that a part does not bind itself. */
function freeNames(node: ASTNode): Set<string> {
  if (node.op === 'id') return new Set([node.args]);
  const names = new Set(childrenOf(node).flatMap(child => [...freeNames(child)]));
  if (node.op !== 'rcall' || !LOOPS.has(node.args[0])) return names;
  const [, receiver, [variable]] = node.args;
  if (variable?.op === 'id') names.delete(variable.args);
  return new Set([...names, ...freeNames(receiver)]);
}

/** `t.getHours("Europe/Berlin")`: the zone is known beforehand, though the time is not. */
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

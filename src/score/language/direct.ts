import type {ASTNode} from '@marcbachmann/cel-js';
import {pathOf} from '../../cel/ast.ts';
import {type Facts, reader} from './read-facts.ts';
import {type RuleVocabulary, typeAt} from './vocabulary.ts';

type Scalar = 'bool' | 'string' | 'double';
type Compare = (left: unknown, right: unknown) => boolean;

interface Operand {
  readonly kind: Scalar;
  read(facts: Facts): unknown;
}

const comparisons: Readonly<Record<string, Compare>> = {
  '==': (left, right) => left === right,
  '!=': (left, right) => left !== right,
  '<': (left, right) => (left as number) < (right as number),
  '<=': (left, right) => (left as number) <= (right as number),
  '>': (left, right) => (left as number) > (right as number),
  '>=': (left, right) => (left as number) >= (right as number),
};

/**
 * A comparison of fields and literals of one type, which most conditions are, read without the expression engine:
 * that would take longer to be called than to compare. Its operands must be known to be there. Undefined for all else.
 */
export function directComparison(
  node: ASTNode,
  vocabulary: RuleVocabulary,
): ((facts: Facts) => boolean) | undefined {
  if (node.op === 'in') return membership(node.args, vocabulary);
  const compare = comparisons[node.op];
  if (compare === undefined) return undefined;
  const [left, right] = (node.args as [ASTNode, ASTNode]).map(side => operand(side, vocabulary));
  if (left === undefined || right === undefined || left.kind !== right.kind) return undefined;
  // CEL orders texts by code points, JavaScript by UTF-16.
  if (left.kind !== 'double' && node.op !== '==' && node.op !== '!=') return undefined;
  return facts => compare(left.read(facts), right.read(facts));
}

function membership(
  [member, list]: readonly [ASTNode, ASTNode],
  vocabulary: RuleVocabulary,
): ((facts: Facts) => boolean) | undefined {
  const sought = operand(member, vocabulary);
  if (sought === undefined) return undefined;
  const path = pathOf(list);
  if (path !== undefined && typeAt(vocabulary, path)?.kind === 'set' && sought.kind === 'string') {
    const read = reader(path);
    return facts => (read(facts) as ReadonlyMap<unknown, true>).has(sought.read(facts));
  }
  if (list.op !== 'list') return undefined;
  const members = list.args.map(literal);
  if (members.some(some => some?.kind !== sought.kind)) return undefined;
  const values = new Set(members.map(some => some?.value));
  return facts => values.has(sought.read(facts));
}

function operand(node: ASTNode, vocabulary: RuleVocabulary): Operand | undefined {
  const constant = literal(node);
  if (constant !== undefined) return {kind: constant.kind, read: () => constant.value};
  const path = pathOf(node);
  const kind = path === undefined ? undefined : typeAt(vocabulary, path)?.kind;
  return path !== undefined && (kind === 'bool' || kind === 'string' || kind === 'double')
    ? {kind, read: reader(path)}
    : undefined;
}

function literal(node: ASTNode): {readonly kind: Scalar; readonly value: unknown} | undefined {
  if (node.op === '-_') {
    const inner = literal(node.args);
    return inner?.kind === 'double' ? {kind: 'double', value: -(inner.value as number)} : undefined;
  }
  if (node.op !== 'value') return undefined;
  const value = node.args;
  if (typeof value === 'string') return {kind: 'string', value};
  if (typeof value === 'boolean') return {kind: 'bool', value};
  return typeof value === 'number' ? {kind: 'double', value} : undefined;
}

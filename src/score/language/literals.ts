import type {ASTNode} from '@marcbachmann/cel-js';
import {boundIn, childrenOf, literalText, pathOf} from '../../cel/ast.ts';
import {closest} from '../../job/closest.ts';
import type {Codes} from './codes.ts';
import {type RuleVocabulary, typeAt, UnknownName} from './vocabulary.ts';

/**
 * Refuses a text that is compared with codes but is not one of them: `status.ip == "Invalid"` would never hold.
 *
 * @throws {UnknownName} for such a text. Its message suggests the nearest code.
 */
export function checkLiterals(
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

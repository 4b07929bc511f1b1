import {createRequire} from 'node:module';
import {type ASTNode, Environment, type ParseResult} from '@marcbachmann/cel-js';
import type {RE2JS} from 're2js';
import {
  changeMember,
  type Evaluator,
  type ExpressionPart,
  findPaths,
  findUndecidedParts,
  isLazy,
  listChildren,
  literalText,
  operandsOf,
  pathOfNode,
  type ReadPath,
  replaceArgs,
} from './ast.ts';
import {conversionChecks, requireFinite} from './conversion-checks.ts';
import {StepLimit} from './step-limit.ts';

const require = createRequire(import.meta.url);

/** Reads a value from what an expression is about, such as a row. Throws if a part of the expression can't use a value. */
export type ValueReader<View> = (view: View) => unknown;

interface CompiledExpression<View> {
  readonly ast: ASTNode;
  /** True if some values may not be needed: those behind `&&`, `||`, `?:`, or in a loop. */
  readonly isLazy: boolean;
  readonly evaluate: ValueReader<View>;
  /** The smallest parts that leave the expression undecided, each with the nodes of its paths. */
  undecidedParts(view: View): readonly ReadonlySet<ASTNode>[];
}

/** Values that are known before the first row, by name. */
export type Constants = Readonly<Record<string, unknown>>;

/** Name in declarations of what expressions call `list`, a name that the library reserves. */
export const LIST_ALIAS = 'list_';

/** Maximum levels of nesting. Checking an expression recurses at each level, and so does running it for a row. */
const MOST_LEVELS = 1_000;
const TOO_DEEP = 'it is nested too deep: more than 1,000 levels, such as terms of && or +';
/** The library allows any number of signs (- or !) in a row. Very many would overflow the stack of its parser. */
const MANY_SIGNS = /(?:[!-]\s*){250}/;
const SIGNS = 'it has 250 signs (- or !) in a row, or more';

/**
 * Evaluates the Common Expression Language. One environment checks types. The other runs expressions: all names are
 * untyped there, which is faster. RE2 runs patterns in linear time: they meet strangers' values.
 */
export class Engine {
  readonly #checking = withMixedNumbers(new Environment());
  readonly #running = withMixedNumbers(
    new Environment({unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false}),
  );
  readonly #constants: Constants;
  readonly #steps = new StepLimit();

  /** `declare`: declares the names that expressions may read. */
  constructor(declare: (environment: Environment) => void, constants: Constants = {}) {
    declare(this.#checking);
    this.#constants = constants;
  }

  /** @throws {Error} when the text is not an expression, or is nested too deep. */
  parse(text: string): ParseResult {
    if (MANY_SIGNS.test(withoutTexts(text))) throw new Error(SIGNS);
    const parsed = this.#running.parse(text);
    let level = [parsed.ast];
    for (let depth = 0; level.length > 0; depth += 1) {
      if (depth > MOST_LEVELS) throw new Error(TOO_DEEP);
      level = level.flatMap(node => listChildren(node).map(child => child.node));
    }
    return parsed;
  }

  /**
   * Checks an expression with its patterns and constant parts. Returns the type of its result.
   *
   * @throws {Error} if the expression has a fault. The error names the fault in `summary` or `message`.
   */
  typeOf(text: string): string {
    const typed = this.#checking.parse(text);
    adapt(typed.ast);
    const {valid, type, error} = typed.check();
    if (!valid) throw error ?? new Error('not valid');
    const readAt = ({path, optional}: ReadPath) => {
      const value = this.#constantAt(path);
      return () => (optional ? value !== undefined : value);
    };
    this.#checkConstants(this.compile(text, readAt).ast);
    return type ?? 'dyn';
  }

  /** Makes an expression ready to run. `readAt` makes the reader of the value at a path, or of `has(…)` of it. */
  compile<View extends object>(
    text: string,
    readAt: (path: ReadPath) => ValueReader<View>,
  ): CompiledExpression<View> {
    const parsed = this.parse(text);
    const {ast} = parsed;
    const paths = findPaths(ast);
    adapt(ast);
    const {valid, error} = parsed.check();
    if (!valid) throw error ?? new Error('not valid');
    this.#guard(ast);
    let seen: View;
    for (const path of paths) {
      const read = readAt(path);
      changeMember(path.node, 'evaluate', () => () => read(seen));
    }
    this.#steps.limit(ast);
    const evaluate: ValueReader<View> = view => {
      seen = view;
      return this.#steps.run(parsed);
    };
    let whole: ExpressionPart | undefined;
    const undecidedParts = (view: View) => {
      whole ??= this.#partOf(ast);
      seen = view;
      return findUndecidedParts(whole);
    };
    return {ast, isLazy: isLazy(ast), evaluate, undecidedParts};
  }

  #partOf(node: ASTNode): ExpressionPart {
    return {
      sign: node.op,
      operands: operandsOf(node).map(operand => this.#partOf(operand)),
      paths: new Set(findPaths(node).map(path => path.node)),
      run: this.#evaluatorOf(node),
    };
  }

  /**
   * Puts our own checks around what the library does at a node: it would take a text like ` 0x1f` for a number,
   * calculate with infinity, and run patterns by JavaScript's own RegExp.
   */
  #guard(node: ASTNode): void {
    for (const child of listChildren(node)) this.#guard(child.node);
    if (ARITHMETIC.has(node.op))
      changeMember<OperatorHandler>(
        node,
        'handle',
        apply => (left, right, ast, engine) => requireFinite(apply(left, right, ast, engine)),
      );
    else if (node.op === 'call' && isConversion(node.args[0])) {
      const check = conversionChecks[node.args[0]];
      changeMember<CallHandler>(
        node,
        'handle',
        apply =>
          ([value], ast, engine) =>
            apply([check(value)], ast, engine),
      );
    } else if (node.op === 'rcall' && node.args[0] === 'matches') {
      const pattern = this.#patternOf(node.args[2][0]);
      changeMember<CallHandler>(node, 'handle', () => ([text]) => {
        if (typeof text === 'string') return pattern.test(text);
        throw NO_TEXT;
      });
    }
  }

  /** Makes a function that evaluates a part of a prepared expression: in place of a literal, since only whole texts run. */
  #evaluatorOf(part: ASTNode): () => unknown {
    const run = this.#running.parse('true');
    const node = part as unknown as {evaluate: Evaluator};
    changeMember<Evaluator>(
      run.ast,
      'evaluate',
      () => (engine, _, context) => node.evaluate(engine, part, context),
    );
    return () => this.#steps.run(run);
  }

  /** Compiles a pattern. Refuses one from a row: it can't be checked before the first row. */
  #patternOf(node: ASTNode | undefined): RE2JS {
    const pattern = this.#constantText(node);
    if (pattern === undefined)
      throw new Error('the pattern of matches() has to be a text such as "^a.*z$", or a constant');
    try {
      return (require('re2js') as typeof import('re2js')).RE2JS.compile(pattern);
    } catch (error) {
      const reason = (error as Error).message.replace(/^error parsing regexp: /, '');
      throw new Error(`the pattern of matches() is not a regular expression of RE2: ${reason}`);
    }
  }

  #constantAt(path: readonly string[]): unknown {
    return path.reduce<unknown>((owner, name) => Object(owner)[name], this.#constants);
  }

  /** The text of a literal, or of a constant; undefined for anything else. */
  #constantText(node: ASTNode | undefined): string | undefined {
    const path = node === undefined ? undefined : pathOfNode(node);
    const text = path && this.#constantAt(path);
    return typeof text === 'string' ? text : literalText(node);
  }

  /**
   * Evaluates the constant parts, so that a fault such as `duration("7d")` is found before the first row. Returns the
   * names in the node that are neither constants nor variables of its loops.
   */
  #checkConstants(node: ASTNode): ReadonlySet<string> {
    const unknown = new Set<string>();
    const [root] = pathOfNode(node) ?? [];
    if (root === undefined)
      for (const child of listChildren(node))
        for (const name of this.#checkConstants(child.node)) if (!child.bound.has(name)) unknown.add(name);
    if (root !== undefined && !Object.hasOwn(this.#constants, root)) unknown.add(root);
    if (node.op === 'rcall' && node.args[0].startsWith('get')) checkZone(this.#constantText(node.args[2][0]));
    if (unknown.size === 0 && !PLAIN.has(node.op)) this.#evaluatorOf(node)();
    return unknown;
  }
}

/** Functions that the library puts into the nodes it has checked: for an operator, and for a call. */
type OperatorHandler = (left: unknown, right: unknown, node: ASTNode, engine: unknown) => unknown;
type CallHandler = (values: readonly unknown[], ...more: readonly unknown[]) => unknown;

/** One error for all rows, since making one for each row would be slow. */
const NO_TEXT = new Error('matches() takes a text');

const ARITHMETIC: ReadonlySet<ASTNode['op']> = new Set(['+', '-', '*', '/']);

const isConversion = (name: string): name is keyof typeof conversionChecks =>
  Object.hasOwn(conversionChecks, name);

/**
 * Kinds of nodes that are not evaluated beforehand. A literal can't be wrong, a name may have no value yet, and the
 * members of lists and maps are checked by themselves.
 */
const PLAIN: ReadonlySet<ASTNode['op']> = new Set(['value', 'id', 'list', 'map']);

/** Checks a constant time zone before the first row: `t.getHours("Europe/Berlin")`. */
function checkZone(zone: string | undefined): void {
  if (zone === undefined) return;
  try {
    new Intl.DateTimeFormat('en', {timeZone: zone});
  } catch {
    throw new Error(`"${zone}" is not a time zone; one is "Europe/Berlin"`);
  }
}

/**
 * Gives `list` its declared name, and makes `1` a fraction in sums, comparisons and lists, since all numbers
 * in answers are fractions. A whole number stays whole (`counts`) as an index, beside `%`, and as an argument:
 * `substring(1)`.
 */
function adapt(node: ASTNode, counts = false, bound?: ReadonlySet<string>): void {
  if (node.op === 'id' && node.args === 'list' && bound?.has('list') !== true) replaceArgs(node, LIST_ALIAS);
  if (!counts && node.op === 'value' && typeof node.args === 'bigint' && isDecimal(node))
    replaceArgs(node, Number(node.args));
  const within = node.op === 'call' || node.op === 'rcall' || node.op === '[]' || node.op === '%';
  for (const child of listChildren(node, bound))
    adapt(child.node, within || (counts && node.op === '-_'), child.bound);
}

function isDecimal({input, range}: ASTNode): boolean {
  return /^\d+$/.test(input.slice(range.start, range.end));
}

/** An expression with empty texts in place of its own. */
export function withoutTexts(expression: string): string {
  return expression.replace(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/g, '""');
}

/** Lets whole numbers mix with fractions, which CEL forbids: `score + 1`, `score == 1`. */
function withMixedNumbers(environment: Environment): Environment {
  const operators = {
    '+': (a: number, b: number) => a + b,
    '-': (a: number, b: number) => a - b,
    '*': (a: number, b: number) => a * b,
    '/': (a: number, b: number) => a / b,
  };
  for (const [sign, apply] of Object.entries(operators)) {
    environment.registerOperator(`double ${sign} int`, (a: number, b: bigint) => apply(a, Number(b)));
    environment.registerOperator(`int ${sign} double`, (a: bigint, b: number) => apply(Number(a), b));
  }
  return environment.registerOperator('double == int', (a: number, b: bigint) => a === Number(b));
}

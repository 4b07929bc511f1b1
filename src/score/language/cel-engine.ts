import {createRequire} from 'node:module';
import {type ASTNode, Environment, parse} from '@marcbachmann/cel-js';
import type {RE2JS} from 're2js';
import {
  findPaths,
  isLoop,
  listChildren,
  literalText,
  pathOfNode,
  printExpression,
  type ReadPath,
} from './ast.ts';
import {conversionChecks, requireFinite, StepLimit, TOO_MANY_STEPS} from './guards.ts';

const require = createRequire(import.meta.url);

type Preparer = (part: ASTNode, parent?: ASTNode) => () => unknown;

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
/** The library's own limits hold for the user's text. What is printed from it has brackets and functions more. */
const ROOMY = {maxAstNodes: 1_000_000, maxDepth: 5_000};

const OPTIONS = {unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false};

/**
 * Evaluates the Common Expression Language. One environment checks types. The other runs what is printed from an
 * expression, untyped, which is faster, with our own functions in it: the library would take ` 0x1f` for a number,
 * calculate with infinity, run patterns by JavaScript's RegExp (RE2 takes linear time), and loop for ever.
 */
export class Engine {
  readonly steps = new StepLimit();
  readonly #checking: Environment;
  readonly #running: Environment;
  readonly #constants: Constants;
  readonly #patterns: RE2JS[] = [];

  /** `declare`: declares the names that expressions may read. */
  constructor(declare: (environment: Environment) => void, constants: Constants = {}) {
    const base = withMixedNumbers(new Environment({limits: ROOMY}));
    this.#checking = base.clone();
    declare(this.#checking);
    this.#constants = constants;
    this.#running = base
      .clone(OPTIONS)
      .registerFunction('counted_(dyn): dyn', entries => this.steps.count(entries))
      .registerFunction('searched_(dyn): dyn', entries => this.steps.countSearch(entries))
      .registerFunction('finite_(dyn): dyn', requireFinite)
      .registerFunction('dyn.matches(int): bool', (text, pattern) => this.#matches(text, pattern));
    for (const [name, check] of Object.entries(conversionChecks))
      this.#running.registerFunction(`checked_${name}(dyn): dyn`, check);
  }

  /**
   * Checks an expression with its patterns and constant parts. Returns the type of its result.
   *
   * @throws {Error} if the expression has a fault. The error names the fault in `summary` or `message`.
   */
  typeOf(ast: ASTNode): string {
    const lists = findPaths(ast).filter(({path}) => path[0] === 'list');
    const names = new Map(lists.map(({node}) => [rootOf(node), LIST_ALIAS]));
    const {valid, type, error} = this.#checking.check(printExpression(ast, names));
    if (!valid) throw error ?? new Error('not valid');
    const prepare = this.preparer(ast, ({path, optional}) => {
      const value = this.#constantAt(path);
      return () => (optional ? value !== undefined : value);
    });
    // Compiles the patterns too, so that a wrong one is refused here.
    prepare(ast);
    this.#checkConstants(ast, prepare);
    return type ?? 'dyn';
  }

  /**
   * Returns a function that makes any part of an expression ready to run, as it stands in `parent`. `readAt` makes the
   * reader of the value at a path, or of `has(…)` of it.
   */
  preparer(ast: ASTNode, readAt: (path: ReadPath) => () => unknown): Preparer {
    const names = new Map<ASTNode, string>();
    const context = {};
    // Longer than any name of the expression that begins like it.
    const prefix = `_${(ast.input.match(/_+/g) ?? []).join('')}`;
    for (const path of findPaths(ast)) {
      const name = `${prefix}${names.size}`;
      names.set(path.node, name);
      Object.defineProperty(context, name, {get: readAt(path)});
    }
    const guard = this.#guard.bind(this);
    return (node, parent) => {
      const text = printExpression(node, names, guard);
      const parsed = this.#running.parse(parent === undefined ? text : guard(text, node, parent));
      return () => parsed(context);
    };
  }

  /** Puts our own functions around what the library does at a node. */
  #guard(text: string, node: ASTNode, parent: ASTNode): string {
    const {op, args} = parent;
    // A sum of infinity is infinite, but a division by it is not.
    const isResult = ARITHMETIC.has(node.op) && (!ARITHMETIC.has(op) || (op === '/' && args[1] === node));
    const finite = isResult ? `finite_(${text})` : text;
    if (op === 'in' && args[1] === node) return `searched_(${finite})`;
    if (op === 'call' && Object.hasOwn(conversionChecks, args[0])) return `checked_${args[0]}(${finite})`;
    if (op !== 'rcall') return finite;
    if (isLoop(parent) && args[1] === node) return `counted_(${finite})`;
    const isPattern = args[0] === 'matches' && args[2][0] === node;
    return isPattern ? String(this.#patterns.push(this.#patternOf(node)) - 1) : finite;
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

  #matches(text: unknown, pattern: bigint): boolean {
    if (typeof text !== 'string') throw NO_TEXT;
    return (this.#patterns[Number(pattern)] as RE2JS).test(text);
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

  /** Evaluates constant parts: `duration("7d")` is refused before the first row. Returns all other names. */
  #checkConstants(node: ASTNode, prepare: Preparer, parent?: ASTNode): ReadonlySet<string> {
    const unknown = new Set<string>();
    const [root] = pathOfNode(node) ?? [];
    if (root === undefined)
      for (const child of listChildren(node))
        for (const name of this.#checkConstants(child.node, prepare, node))
          if (!child.bound.has(name)) unknown.add(name);
    if (root !== undefined && !Object.hasOwn(this.#constants, root)) unknown.add(root);
    if (node.op === 'rcall' && node.args[0].startsWith('get')) checkZone(this.#constantText(node.args[2][0]));
    if (unknown.size === 0 && !PLAIN.has(node.op)) this.#runOnce(prepare(node, parent));
    return unknown;
  }

  #runOnce(run: () => unknown): void {
    this.steps.restart();
    try {
      run();
    } catch (error) {
      if (!this.steps.isExceeded) throw error;
    }
    if (this.steps.isExceeded) throw new Error(TOO_MANY_STEPS);
  }
}

/** @throws {Error} when the text is not an expression, or is nested too deep. */
export function parseExpression(text: string): ASTNode {
  if (MANY_SIGNS.test(withoutTexts(text))) throw new Error(SIGNS);
  const {ast} = parse(text);
  let level = [ast];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MOST_LEVELS) throw new Error(TOO_DEEP);
    level = level.flatMap(node => listChildren(node).map(child => child.node));
  }
  return ast;
}

/** One error for all rows, since making one for each row would be slow. */
const NO_TEXT = new Error('matches() takes a text');

const ARITHMETIC: ReadonlySet<ASTNode['op']> = new Set(['+', '-', '*', '/']);

function rootOf(node: ASTNode): ASTNode {
  if (node.op === '.' || node.op === '[]') return rootOf(node.args[0]);
  return node.op === 'call' ? rootOf(node.args[1][0] as ASTNode) : node;
}

/** Not evaluated beforehand: literals can't be wrong, names may lack a value, members are checked alone. */
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
  for (const [sign, apply] of Object.entries(operators))
    for (const mixed of [`double ${sign} int`, `int ${sign} double`])
      environment.registerOperator(mixed, (a, b) => apply(Number(a), Number(b)));
  return environment.registerOperator('double == int', (a: number, b: bigint) => a === Number(b));
}

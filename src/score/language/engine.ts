import {createRequire} from 'node:module';
import {type ASTNode, Environment} from '@marcbachmann/cel-js';
import type {RE2JS} from 're2js';
import {childrenOf} from './ast.ts';
import {type Constants, checkConstants, constantText} from './constants.ts';
import {convertible, finite} from './convertible.ts';
import {convertibleBy, ENGINE_NAMES, engineText} from './written.ts';

const require = createRequire(import.meta.url);

/** Evaluates a part of an expression over facts (values by name). Throws if the part can't use a value. */
export type Evaluate = (facts: Readonly<Record<string, unknown>>) => unknown;

/** Declares the names that expressions may read, in an environment that checks or runs them. */
export type Declare = (environment: Environment, use: 'check' | 'run') => void;

/** Evaluates the Common Expression Language. RE2 runs patterns in linear time: they meet strangers' values. */
export class Engine {
  readonly #checking: Environment;
  readonly #running: Environment;
  readonly #patterns = new Map<string, RE2JS>();

  constructor(declare: Declare) {
    this.#checking = this.#environment();
    this.#running = this.#environment();
    declare(this.#checking, 'check');
    declare(this.#running, 'run');
  }

  /**
   * Checks an expression with its patterns and constant parts. Returns the type of its result.
   *
   * @throws {Error} if the expression has a fault. The error names the fault in `summary` or `message`.
   */
  typeOf(ast: ASTNode, constants: Constants = {}): string {
    const {valid, type, error} = this.#checking.parse(engineText(ast, false)).check();
    if (!valid) throw error ?? new Error('not valid');
    this.#compilePatterns(ast, constants);
    checkConstants(ast, constants, node => this.prepare(node)(constants));
    return type ?? 'dyn';
  }

  /** Makes a part of a checked expression ready to run. */
  prepare(node: ASTNode): Evaluate {
    return this.#running.parse(engineText(node, true));
  }

  /** Compiles the patterns of matches(). Refuses a pattern from a row: it can't be checked before the first row. */
  #compilePatterns(node: ASTNode, constants: Constants): void {
    if (node.op === 'rcall' && node.args[0] === 'matches') {
      const pattern = constantText(node.args[2][0], constants);
      if (pattern === undefined)
        throw new Error('the pattern of matches() has to be a text such as "^a.*z$", or a constant');
      this.#patterns.set(pattern, compiled(pattern));
    }
    for (const child of childrenOf(node)) this.#compilePatterns(child, constants);
  }

  #environment(): Environment {
    const sync = {async: false};
    const matches = (text: string, pattern: string) =>
      (this.#patterns.get(pattern) ?? compiled(pattern)).test(text);
    const environment = withMixedNumbers(new Environment());
    for (const [name, read] of Object.entries(convertible))
      environment.registerFunction(
        `${convertibleBy(name as keyof typeof convertible)}(dyn): dyn`,
        read,
        sync,
      );
    return environment
      .registerFunction(`string.${ENGINE_NAMES.matches}(string): bool`, matches, sync)
      .registerFunction(`${ENGINE_NAMES.finite}(dyn): dyn`, finite, sync);
  }
}

function compiled(pattern: string): RE2JS {
  try {
    return (require('re2js') as typeof import('re2js')).RE2JS.compile(pattern);
  } catch (error) {
    const reason = (error as Error).message.replace(/^error parsing regexp: /, '');
    throw new Error(`the pattern of matches() is not a regular expression of RE2: ${reason}`);
  }
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

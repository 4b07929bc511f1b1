import {beforeEach} from 'vitest';

type Before = (hook: () => Promise<() => Promise<void>>) => void;

/** What is opened before each test of a file, or of a `describe`, and closed after it; by `beforeAll`, once for all. */
export function opened<T extends Disposable | AsyncDisposable>(
  open: () => T | Promise<T>,
  before: Before = beforeEach,
): T {
  let current: T;
  before(async () => {
    current = await open();
    return async () => {
      if (Symbol.asyncDispose in current) await current[Symbol.asyncDispose]();
      else current[Symbol.dispose]();
    };
  });
  return new Proxy({} as T, {get: (_, name) => Reflect.get(current, name)});
}

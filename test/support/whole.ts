/**
 * A whole thing where a test needs a part of it: what the test does not give throws when it is read, and is never
 * taken for a value that is missing.
 */
export function whole<Thing extends object>(part: Partial<Thing>): Thing {
  return new Proxy(part, {
    get(target, name, receiver) {
      // Promises and printers look for these in anything.
      if (Reflect.has(target, name) || typeof name === 'symbol' || name === 'then')
        return Reflect.get(target, name, receiver);
      throw new Error(`the test gave no ${name}`);
    },
  }) as Thing;
}

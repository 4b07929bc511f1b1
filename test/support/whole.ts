/** A thing of which any part may be missing, at any depth. */
type PartOf<Thing> = Thing extends (...given: infer Given) => infer Result
  ? (...given: Given) => PartOf<Result>
  : Thing extends readonly (infer Entry)[]
    ? readonly PartOf<Entry>[]
    : Thing extends object
      ? {readonly [Name in keyof Thing]?: PartOf<Thing[Name]> | undefined}
      : Thing;

/**
 * A whole thing where a test needs a part of it: what the test does not give throws when it is read, and is never
 * taken for a value that is missing.
 */
export function whole<Thing extends object>(part: PartOf<Thing>): Thing {
  return new Proxy(part as Thing, {
    get(target, name, receiver) {
      // Promises and printers look for these in anything.
      if (Reflect.has(target, name) || typeof name === 'symbol' || name === 'then')
        return Reflect.get(target, name, receiver);
      throw new Error(`the test gave no ${name}`);
    },
  });
}

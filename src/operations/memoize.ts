/** Returns a function that makes its result at the first call, and keeps it. */
export function memoize<T>(make: () => T): () => T {
  let made: {readonly value: T} | undefined;
  return () => {
    made ??= {value: make()};
    return made.value;
  };
}

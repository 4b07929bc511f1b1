export declare function shippedPackages(
  bundled: readonly string[],
): Readonly<Record<string, {readonly version: string}>>;

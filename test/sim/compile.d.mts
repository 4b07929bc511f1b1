/** A file of src, what is in it exactly once, and what takes its place. */
export type Edit = readonly [file: string, from: string | RegExp, to: string];

export declare function edited(text: string, edits: readonly Edit[]): string;

export declare function compile(
  name: string,
  edits?: readonly Edit[],
): Promise<{readonly directory: string; readonly file: string}>;

/** What is replaced in a file of src: a text, or what a pattern matches, that is there exactly once. */
export type Edit = readonly [file: string, from: string | RegExp, to: string];

export function compile(
  name: string,
  edits?: readonly Edit[],
): Promise<{readonly directory: string; readonly file: string}>;

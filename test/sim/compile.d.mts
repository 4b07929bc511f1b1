export declare function compile(
  name: string,
  input?: string,
): Promise<{readonly directory: string; readonly file: string}>;

export const v8Flags: readonly string[];

export declare function compile(
  name: string,
  input?: string,
  fault?: {readonly file: string; readonly from: string; readonly to: string},
): Promise<{readonly directory: string; readonly file: string}>;

export const v8Flags: readonly string[];

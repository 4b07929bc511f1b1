export declare function compile(name: string): Promise<{readonly directory: string; readonly file: string}>;

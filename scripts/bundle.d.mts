export declare function bundle(modules: readonly string[], directory: string): Promise<string[]>;

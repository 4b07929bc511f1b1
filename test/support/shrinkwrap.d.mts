export interface LockFile {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export function shrinkwrap(
  manifest: object,
  lock: LockFile,
): LockFile & {
  readonly packages: Readonly<Record<string, {readonly dependencies?: object; readonly integrity?: string}>>;
};

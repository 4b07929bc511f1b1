import {chmodSync, readFileSync, writeFileSync} from 'node:fs';
import type {Sandbox} from './command.ts';

export interface TracedNode {
  /** The program that runs a command in node's place. */
  readonly node: string;
  /** The calls that were made, one a line, in order. */
  log(): string[];
}

/** Node, traced. `inject` is what strace does to it, such as `fsync:error=EIO:when=3`; with `path`, on that file alone. */
export function tracedNode(sandbox: Sandbox, calls: string, inject?: string, path?: string): TracedNode {
  const node = sandbox.path('../traced-node');
  const log = `${node}.log`;
  const only = path === undefined ? '' : `-P '${path}'`;
  const injected = inject === undefined ? '' : `-e inject=${inject}`;
  // Stopping at the traced calls only is twice as fast, but no signal can be injected then.
  const filter = inject?.includes('signal=') ? '' : '--seccomp-bpf';
  const command = `strace -f ${filter} -qq -o '${log}' -e trace=${calls} ${only} ${injected} '${process.execPath}' "$@"`;
  writeFileSync(node, `#!/bin/sh\nexec ${command}\n`);
  chmodSync(node, 0o755);
  return {node, log: () => readFileSync(log, 'utf8').trimEnd().split('\n')};
}

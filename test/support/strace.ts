import {chmodSync, readFileSync, writeFileSync} from 'node:fs';
import type {Sandbox} from './command.ts';

/**
 * Node, traced: the program that runs a command in its place, and the calls that were made, one a line, in order. `inject`
 * is what strace does to it, such as `fsync:error=EIO:when=3`; with `path`, on that file alone.
 */
export function tracedNode(sandbox: Sandbox, calls: string, inject?: string, path?: string) {
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

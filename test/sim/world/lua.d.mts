/** A reply of Redis: `null` is what is not there. */
export type Reply = string | number | null | readonly Reply[];

/** Runs a script as Redis does, each `redis.call` of it with `call`, and returns its reply; throws what it reports. */
export function runScript(
  source: string,
  keys: readonly string[],
  args: readonly string[],
  call: (name: string, args: readonly string[]) => Reply,
): Reply;

import type {Keyspace} from './keyspace.ts';
import type {Reply} from './lua.mjs';

/** Commands that Lua scripts call, on what the simulated Redis holds: hashes and sorted sets are maps. */
export const commands: Readonly<Record<string, (server: Keyspace, ...args: string[]) => Reply>> = {
  exists: (server, key) => (server.value(key) === undefined ? 0 : 1),
  del: (server, ...keys) => keys.filter(key => server.remove(key)).length,
  pexpire: (server, key, ms) => (server.expire(key, Number(ms)) ? 1 : 0),
  pttl: (server, key) => server.leftMs(key),
  set: (server, key, value, _px, ms) => {
    server.set(key, value, ms === undefined ? undefined : Number(ms));
    return 'OK';
  },
  time: ({world}) => [String(Math.floor(world.wallMs / 1_000)), String((world.wallMs % 1_000) * 1_000)],
  publish: (server, channel, message) => server.publish(channel, message),

  hset: setFields,
  hmset: setFields,
  hsetnx: (server, key, field, value) => {
    if (hashOf(server, key).has(field)) return 0;
    changed(server, key).set(field, value);
    return 1;
  },
  hget: (server, key, field) => hashOf(server, key).get(field) ?? null,
  hmget: (server, key, ...fields) => fields.map(field => hashOf(server, key).get(field) ?? null),
  hdel: (server, key, ...fields) => removed(server, key, fields),
  hkeys: (server, key) => [...hashOf(server, key).keys()],
  hstrlen: (server, key, field) => hashOf(server, key).get(field)?.length ?? 0,
  hincrby: (server, key, field, by) => {
    const sum = Number(hashOf(server, key).get(field) ?? 0) + Number(by);
    changed(server, key).set(field, String(sum));
    return sum;
  },

  zadd: (server, key, score, member) => {
    const isNew = !scoresOf(server, key).has(member);
    changed(server, key).set(member, Number(score));
    return isNew ? 1 : 0;
  },
  zscore: (server, key, member) => scoresOf(server, key).get(member)?.toString() ?? null,
  zincrby: (server, key, by, member) => {
    const sum = (scoresOf(server, key).get(member) ?? 0) + Number(by);
    changed(server, key).set(member, sum);
    return String(sum);
  },
  zrem: (server, key, ...members) => removed(server, key, members),
  zrange: (server, key, _first, _last, withScores) =>
    ranked(server, key).flatMap(([member, score]) =>
      withScores === undefined ? [member] : [member, String(score)],
    ),
  zrangebyscore: (server, key, from, to) => within(server, key, from, to),
  zremrangebyscore: (server, key, from, to) => removed(server, key, within(server, key, from, to)),
};

/** What is there, to look at. */
function hashOf(server: Keyspace, key: string): ReadonlyMap<string, string> {
  return server.value(key) ?? new Map();
}

function scoresOf(server: Keyspace, key: string): ReadonlyMap<string, number> {
  return server.value(key) ?? new Map();
}

/** What is there from now on. */
function changed<T>(server: Keyspace, key: string): Map<string, T> {
  return server.collection(key, () => new Map());
}

function setFields(server: Keyspace, key: string, ...pairs: string[]): Reply {
  const hash = changed(server, key);
  for (let at = 0; at < pairs.length; at += 2) hash.set(pairs[at] ?? '', pairs[at + 1] ?? '');
  return 'OK';
}

/** A collection that lost its last member is no longer there. */
function removed(server: Keyspace, key: string, members: readonly string[]): number {
  const all = changed(server, key);
  const {length} = members.filter(member => all.delete(member));
  if (all.size === 0) server.remove(key);
  return length;
}

function ranked(server: Keyspace, key: string): [string, number][] {
  return [...scoresOf(server, key)].sort(([one, low], [other, high]) => low - high || (one < other ? -1 : 1));
}

/** Members whose score is within the limits; `(` leaves out the limit itself. */
function within(server: Keyspace, key: string, from: string, to: string): string[] {
  const limit = (text: string) =>
    text.endsWith('inf') ? (text.startsWith('-') ? -Infinity : Infinity) : Number(text.replace('(', ''));
  const [least, most] = [limit(from), limit(to)];
  return ranked(server, key).flatMap(([member, score]) => {
    const isIn =
      (from.startsWith('(') ? score > least : score >= least) &&
      (to.startsWith('(') ? score < most : score <= most);
    return isIn ? [member] : [];
  });
}

import {isIP} from 'node:net';
import ipaddr from 'ipaddr.js';
import {readFileText} from '../disk/path.ts';
import {systemReason, UsageError} from '../errors.ts';
import type {SettingLocator} from '../job/parse.ts';
import type {ScoreRules} from '../job/settings/score-rules.ts';
import type {ExpressionType, RuleVocabulary} from './language/rule-variables.ts';

/** A job's constants and lists, which its conditions may read. Lists are hashed, so they may be long. */
export interface RuleConstants {
  readonly constants: ScoreRules['constants'];
  readonly lists: Readonly<Record<string, ReadonlyMap<string, true>>>;
}

export interface RunFacts {
  readonly vocabulary: RuleVocabulary;
  readonly facts: Readonly<Record<'now' | 'constant' | 'list', unknown>>;
}

/** @throws {UsageError} with the setting's place if a list's file can't be read. */
export function readLists(lists: ScoreRules['lists'], placeOf: SettingLocator): RuleConstants['lists'] {
  const entries = Object.entries(lists).map(([name, list]) => {
    const place = placeOf(['lists', name]);
    return [name, listOf(Array.isArray(list) ? list : linesOf(list.file, place), place)] as const;
  });
  return Object.fromEntries(entries);
}

/** Declared as a map, so that `in` finds a text by its hash, and does not go through a list. */
const LIST = {kind: 'map', of: {kind: 'bool'}, what: 'entry'} as const;

/** An entry that is meant as a network, such as 8.8.8.0/24. */
const NETWORK = /^[\da-f.:]+\/\d+$/i;

/**
 * A list for `in`: a text is in it if an entry is equal, or is the network of this address. The engine accepts only a
 * plain Map.
 *
 * @throws {UsageError} for an entry that looks like a network and can't match any address.
 */
function listOf(texts: readonly string[], place: string): ReadonlyMap<string, true> {
  const list = new Map(texts.map(text => [text, true as const]));
  const networks = new Set<string>();
  const prefixes = new Set<number>();
  for (const [index, text] of texts.entries()) {
    if (!NETWORK.test(text)) continue;
    if (!ipaddr.isValidCIDR(text))
      throw new UsageError(
        'score_list',
        `${place}: Entry ${index + 1} is not a network, and can't match anything. Write it as 192.0.2.0/24.`,
      );
    const [address, prefix] = ipaddr.parseCIDR(text);
    networks.add(networkOf(address, prefix));
    prefixes.add(prefix);
  }
  if (networks.size === 0) return list;
  const isEqual = list.has.bind(list);
  const isInNetwork = (text: string) => {
    if (isIP(text) === 0 || !ipaddr.isValid(text)) return false;
    return [...prefixes].some(prefix => networks.has(networkOf(ipaddr.parse(text), prefix)));
  };
  list.has = text => isEqual(text) || isInNetwork(text);
  list.get = text => (list.has(text) ? true : undefined);
  return list;
}

function networkOf(address: ipaddr.IPv4 | ipaddr.IPv6, prefix: number): string {
  const bytes = address.toByteArray();
  const whole = prefix >> 3;
  const lastBits = (bytes[whole] ?? 0) >> (8 - (prefix & 7));
  return `${address.kind()}/${prefix}/${bytes.slice(0, whole).join('.')}/${lastBits}`;
}

/** The lines of a list's file, without empty lines and lines that begin with #. */
function linesOf(path: string, place: string): string[] {
  let text: string;
  try {
    text = readFileText(path);
  } catch (error) {
    throw new UsageError('score_list', `${place}: The list ${path} can't be read: ${systemReason(error)}.`);
  }
  const lines = text.split('\n');
  return lines.map(line => line.trim()).filter(line => line !== '' && !line.startsWith('#'));
}

/** `startedAt`: the run's first start (ms since the epoch), `now` in rules: a resume decides the same. */
export function makeRunFacts(given: RuleConstants | undefined, startedAt: number): RunFacts {
  const {constants = {}, lists = {}} = given ?? {};
  const typesOf = (values: object, typeOf: (value: unknown) => ExpressionType): RuleVocabulary[string] => ({
    kind: 'object',
    fields: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, typeOf(value)])),
  });
  return {
    vocabulary: {
      now: {kind: 'timestamp'},
      ...(Object.keys(constants).length > 0 && {constant: typesOf(constants, constantType)}),
      ...(Object.keys(lists).length > 0 && {list: typesOf(lists, () => LIST)}),
    },
    facts: {now: new Date(startedAt), constant: constants, list: lists},
  };
}

function constantType(value: unknown): ExpressionType {
  if (typeof value === 'string') return {kind: 'string'};
  return {kind: typeof value === 'number' ? 'double' : 'bool'};
}

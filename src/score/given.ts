import {ENGINE_NAMES} from '../cel/written.ts';
import {fileText} from '../disk/path.ts';
import {systemReason, UsageError} from '../errors.ts';
import type {PlaceOf} from '../job/parse.ts';
import type {ScoreRules} from '../job/settings/score-rules.ts';
import type {RuleVocabulary, Type} from './language/vocabulary.ts';

/** A job's constants and lists, which its conditions may read. Lists are hashed, so they may be long. */
export interface Given {
  readonly constants: ScoreRules['constants'];
  readonly lists: Readonly<Record<string, ReadonlyMap<string, true>>>;
}

/** Facts that are the same for all rows of a run. */
export interface Background {
  readonly vocabulary: RuleVocabulary;
  readonly facts: Readonly<Record<'now' | 'constant' | 'list' | typeof ENGINE_NAMES.list, unknown>>;
}

/** @throws {UsageError} with the setting's place if a list's file can't be read. */
export function readLists(lists: ScoreRules['lists'], placeOf: PlaceOf): Given['lists'] {
  const entries = Object.entries(lists).map(([name, list]) => {
    const texts = Array.isArray(list) ? list : linesOf(list.file, placeOf(['lists', name]));
    return [name, new Map(texts.map(text => [text, true as const]))] as const;
  });
  return Object.fromEntries(entries);
}

/** The lines of a list's file, without empty lines and lines that begin with #. */
function linesOf(path: string, place: string): string[] {
  let text: string;
  try {
    text = fileText(path);
  } catch (error) {
    throw new UsageError('score_list', `${place}: The list ${path} can't be read: ${systemReason(error)}.`);
  }
  const lines = text.split('\n');
  return lines.map(line => line.trim()).filter(line => line !== '' && !line.startsWith('#'));
}

/**
 * `startedAt`: the run's first start, in milliseconds since the epoch. Rules read it as `now`, so a resume does
 * not change a row's result.
 */
export function backgroundOf(given: Given | undefined, startedAt: number): Background {
  const {constants = {}, lists = {}} = given ?? {};
  const constant = Object.entries(constants).map(([name, value]) => [name, constantType(value)] as const);
  const list = Object.keys(lists).map(name => [name, {kind: 'set'}] as const);
  return {
    vocabulary: {
      now: {kind: 'timestamp'},
      ...(constant.length === 0 ? {} : {constant: {kind: 'object', fields: Object.fromEntries(constant)}}),
      ...(list.length === 0 ? {} : {list: {kind: 'object', fields: Object.fromEntries(list)}}),
    },
    facts: {now: new Date(startedAt), constant: constants, list: lists, [ENGINE_NAMES.list]: lists},
  };
}

function constantType(value: number | string | boolean): Type {
  if (typeof value === 'string') return {kind: 'string', value};
  return {kind: typeof value === 'number' ? 'double' : 'bool', value};
}

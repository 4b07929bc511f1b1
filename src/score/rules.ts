import {createHash} from 'node:crypto';
import {existsSync} from 'node:fs';
import type {z} from 'zod';
import {UsageError} from '../errors.ts';
import {readYaml, type SettingLocator} from '../job/parse.ts';
import {type ScoreRules, scoreRules} from '../job/settings/score-rules.ts';
import type {Settings} from '../job/settings.ts';
import {operationNames, operations} from '../operations/table.ts';
import {didYouMean, say, setting} from '../sentence.ts';
import {type RuleConstants, readLists} from './run-facts.ts';

export type PlacedRule = ScoreRules['rules'][number] & {
  readonly place: string;
  /** True for the job's own rules, false for default rules. Only the job's own rules need tests. */
  readonly own: boolean;
};

export interface RuleSet extends RuleConstants {
  readonly levels: ScoreRules['levels'];
  readonly rules: readonly PlacedRule[];
  /** The column of persons, by which values are shared. By default, a person is a mailbox. */
  readonly sameBy?: string | undefined;
}

const RULE = '{when: ip.is_tor_node, add: 40, reason: tor}';

/** The parts of the rules that can change a row of output, with a hash for each list; null without rules. */
export function fingerprintRuleSet(ruleSet: RuleSet | undefined): unknown {
  if (ruleSet === undefined) return null;
  const {levels, rules, constants, lists, sameBy} = ruleSet;
  const digests = Object.entries(lists).map(([name, list]) => {
    const digest = createHash('sha256');
    for (const text of list.keys()) digest.update(`${text}\n`);
    return [name, digest.digest('hex')];
  });
  const shaping = rules.map(({when, add, reason, shadow = false}) => [when, add, reason, shadow]);
  return [levels, shaping, constants, digests, sameBy];
}

/**
 * A job's rules: the default ones, those in its `score` block, or those in a file; undefined if it wants no score.
 *
 * @throws {UsageError} with file and line if the rules are unreadable or invalid.
 */
export function loadRules(score: Settings['score'], placeOf: SettingLocator): RuleSet | undefined {
  if (score === 'none') return undefined;
  if (score === 'default') return {levels: defaultLevels, rules: placedDefaults(), constants: {}, lists: {}};
  if (typeof score !== 'string') return assembleRuleSet(score, path => placeOf(['score', ...path]));
  const file = readRulesFile(score);
  return assembleRuleSet(file.rules, file.placeOf);
}

/** The files that a job's rules are in: a rules file, and those of its lists. Unreadable ones fail elsewhere. */
export function listRuleFiles(score: Settings['score']): string[] {
  if (score === 'default' || score === 'none') return [];
  const listFiles = ({lists}: ScoreRules) =>
    Object.values(lists).flatMap(list => (Array.isArray(list) ? [] : [list.file]));
  if (typeof score !== 'string') return listFiles(score);
  try {
    return [score, ...listFiles(readRulesFile(score).rules)];
  } catch {
    return [score];
  }
}

/** A rules file: its content, and where each key is in it, for messages. */
export interface RulesFile {
  readonly rules: ScoreRules;
  readonly placeOf: SettingLocator;
  /** True if the rules are below the key `score`, as in a job file. */
  readonly isUnderScore: boolean;
}

/** @throws {UsageError} with file and line if the file can't be read, or if its rules have a wrong setting. */
export function readRulesFile(path: string): RulesFile {
  const words = ['default', 'none'];
  if (!existsSync(path))
    throw new UsageError('score_file', `The rules file ${path} does not exist.${didYouMean(path, words)}`);
  const file = readYaml(path, 'file of score rules', 'score');
  // A file has its rules under the key `score`, as a job file has, or at its top.
  const within = isUnderScore(file.value) ? ['score'] : [];
  const placeOf: SettingLocator = keys => {
    const line = file.line([...within, ...keys]);
    return `${path}${line === undefined ? '' : `:${line}`}${keys.length === 0 ? '' : `: ${keys.map(shownKey).join('.')}`}`;
  };
  const read = scoreRules.safeParse(isUnderScore(file.value) ? file.value.score : file.value);
  if (!read.success) throw new UsageError('score_rules', problemOf(read.error, placeOf));
  return {rules: read.data, placeOf, isUnderScore: isUnderScore(file.value)};
}

/** A key for messages. A text that is no name is not shown: the file may be another one, such as a file of secrets. */
function shownKey(key: PropertyKey): string {
  return /^[\w-]{1,32}$/.test(String(key)) ? String(key) : '…';
}

function isUnderScore(value: unknown): value is {readonly score: unknown} {
  return typeof value === 'object' && value !== null && 'score' in value && !('rules' in value);
}

function problemOf({issues}: z.ZodError, placeOf: SettingLocator): string {
  // Reports a misspelt key first: because of it, the right key counts as missing too.
  const issue = issues.find(({code}) => code === 'unrecognized_keys') ?? issues[0];
  const path =
    issue?.code === 'unrecognized_keys' ? [...issue.path, issue.keys[0] ?? ''] : (issue?.path ?? []);
  const what =
    issue?.path.length === 0 && issue.code === 'invalid_type'
      ? `expected "rules:" with a list below it, such as ${RULE}`
      : (issue?.message.replace(/^Invalid (input|option): /, '') ?? 'expected rules');
  return `${placeOf(path)}: ${what}.`;
}

/**
 * Puts the default rules before the given ones if `base` asks for that, and reads the lists.
 *
 * @throws {UsageError} if there are no rules, if two rules share a reason, or if a list can't be read.
 */
export function assembleRuleSet(
  {base, levels, rules, constants, lists, shared_reasons: shared, same_by: sameBy}: ScoreRules,
  placeOf: SettingLocator,
): RuleSet {
  const given = rules.map((rule, index) => ({...rule, place: placeOf(['rules', index, 'when']), own: true}));
  const all = base === 'default' ? [...placedDefaults(), ...given] : given;
  if (all.length === 0)
    throw new UsageError(
      'score_rules',
      say`${placeOf(['rules'])}: expected at least one rule, such as ${RULE}; for no score at all: ${setting('score', 'none')}.`,
    );
  refuseSharedReasons(all, shared);
  return {levels, rules: all, constants, lists: readLists(lists, placeOf), sameBy};
}

/** Refuses two rules with one reason, unless it is in `shared`: outputs name a rule by its reason. */
function refuseSharedReasons(rules: readonly PlacedRule[], shared: readonly string[]): void {
  const seen = new Map<string, PlacedRule>();
  for (const rule of rules) {
    const other = seen.get(rule.reason);
    if (other !== undefined && rule.own && !shared.includes(rule.reason))
      throw new UsageError(
        'score_rules',
        `${rule.place}: ${other.own ? other.place : 'a default rule'} has the reason "${rule.reason}" too. Give each its own, or allow it with shared_reasons: [${rule.reason}].`,
      );
    seen.set(rule.reason, rule);
  }
}

function placedDefaults(): PlacedRule[] {
  return defaultRules.map(rule => ({...rule, place: `the default rule ${rule.reason}`, own: false}));
}

/** Read flags, error codes, and the verdict's score: the interface gives no range for other numbers. */
export const defaultRules: ScoreRules['rules'] = operationNames.flatMap(name => operations[name].rules);

export const defaultLevels: ScoreRules['levels'] = scoreRules.parse({}).levels;

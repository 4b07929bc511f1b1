import {expect, test} from 'vitest';
import {scoreRules} from '../../src/job/settings/score-rules.ts';
import {assembleRuleSet, defaultRules, fingerprintRuleSet, type RuleSet} from '../../src/score/rules.ts';

const rule = {when: 'ip.is_vpn', add: 10, reason: 'vpn', place: 'rules.yaml:2', own: true};
const listOf = (...texts: string[]) => ({known: new Map(texts.map(text => [text, true as const]))});
const rules: RuleSet = {
  levels: {medium: 30, high: 60},
  rules: [rule, {...rule, when: 'ip.is_bogon', reason: 'bogon'}],
  constants: {days: 3},
  lists: listOf('ab', 'c'),
};
const shape = (change: Partial<RuleSet>) => JSON.stringify(fingerprintRuleSet({...rules, ...change}));
const [, second = rule] = rules.rules;

test.each<[string, Partial<RuleSet>]>([
  ['a condition', {rules: [{...rule, when: '!ip.is_vpn'}, second]}],
  ['points', {rules: [{...rule, add: 11}, second]}],
  ['a reason', {rules: [{...rule, reason: 'other'}, second]}],
  ['a rule that counts no more', {rules: [{...rule, shadow: true}, second]}],
  ['the order of reasons', {rules: [second, rule]}],
  ['a level', {levels: {medium: 31, high: 60}}],
  ['the other level', {levels: {medium: 30, high: 61}}],
  ['a constant', {constants: {days: 4}}],
  ['an entry of a list', {lists: listOf('ab', 'd')}],
  ['entries that join to the same text', {lists: listOf('a', 'bc')}],
  ['a list under another name', {lists: {other: listOf('ab', 'c').known}}],
])('rows of one output are never scored by two sets of rules: %s changed', (_, change) => {
  expect(shape(change)).not.toBe(shape({}));
});

test('words about a rule, and its line, may change in the middle of a run', () => {
  const told = {...rule, place: 'rules.yaml:9', owner: 'fraud team', description: 'Hidden', shadow: false};
  expect(shape({rules: [told, second]})).toBe(shape({}));
});

test('the reasons of default rules come first, then those of the job', () => {
  const own = {when: 'ip.is_vpn', add: 1, reason: 'mine'};
  const given = scoreRules.parse({base: 'default', rules: [own]});
  const {rules: all} = assembleRuleSet(given, path => path.join('.'));
  expect(all.map(({reason}) => reason)).toEqual([...defaultRules.map(({reason}) => reason), 'mine']);
});

import {expect, test} from 'vitest';
import {classifyResponse} from '../../../src/client/classify.ts';
import type {BookedAttempt} from '../../../src/ledger/run/ledger-entry.ts';
import {NewAnswers} from '../../../src/run/counts/new-answers.ts';
import {whole} from '../../support/whole.ts';

const full = {is_valid: true, is_trusted: false, has_aliasing: false};
const untrusted = {is_valid: true, has_aliasing: false};
const poor = {trust_score: 7};
const more = {...full, mx: true};
const other = {...full, normalized_email: 'main@example.org'};

const times = (count: number, data: object) => Array<object>(count).fill(data);
const GONE = 'No new email answer has is_trusted, which rules read.';
const ALL_GONE = 'No new email answer has is_valid, is_trusted, has_aliasing, which rules read.';
const UNKNOWN = 'Most new email answers have unknown fields: mx.';
const OTHER_FORM = 'Most new email answers name the value in another form than was sent.';
const notKept = (count: number, of: number) =>
  `${count} of ${of} new email answers have no field that rules read, and are not kept.`;

/** The sentences about these answers. Poor ones are not kept if others were better. */
function oddities(earlier: readonly object[], brought: readonly object[]): readonly string[] {
  const answers = new NewAnswers(() => earlier);
  for (const data of brought) {
    const response = {status: 200, latencyMs: 1, pace: {limits: {}}};
    const body = JSON.stringify({success: true, data});
    const attempt = classifyResponse('email', {...response, body}, {email: 'a@example.com'});
    const isKept = data !== poor || !answers.hadSignals('email');
    const outcome = {status: 'ok', data: body, ...(isKept && {boughtAt: 1})} as const;
    answers.count(whole<BookedAttempt>({operation: 'email', attempt: {...attempt, boughtAt: 1}, outcome}));
  }
  return answers.oddities;
}

test.each<[name: string, brought: readonly object[], said: string]>([
  ['for one reason', times(3, {}), '3 email answers could not be used: no known field has a value.'],
  [
    'for several, each with its own field',
    [...times(2, {}), ...Array.from({length: 300}, (_, n) => ({[`f${n}`]: 1}))],
    '302 email answers could not be used, most often: no known field has a value.',
  ],
])('answers that can not be used %s', (_, brought, said) => {
  expect(oddities([], brought)).toEqual([said]);
});

test.each<[name: string, earlier: readonly object[], brought: readonly object[], said: readonly string[]]>([
  ['as before', times(5, full), times(5, full), []],
  ['without a field that all had', times(5, full), times(5, untrusted), [GONE]],
  ['without one, but for a single answer', times(5, full), [full, ...times(9, untrusted)], []],
  ['without one that nine in ten had', [...times(9, full), untrusted], times(5, untrusted), [GONE]],
  ['without one that eight in ten had', [...times(8, full), untrusted, poor], times(5, untrusted), []],
  ['too few to compare', times(5, full), times(4, untrusted), []],
  ['beside too few earlier ones', times(4, full), times(5, untrusted), []],
  ['without any field that rules read', times(5, full), times(5, poor), [ALL_GONE]],
  [
    'without any, in a part of them',
    times(5, full),
    [...times(5, full), ...times(5, poor)],
    [notKept(5, 10)],
  ],
  ['without any, in the rest of a first night', [], [...times(5, full), ...times(5, poor)], [notKept(5, 10)]],
  ['without any, in a few', times(5, full), [...times(9, full), ...times(4, poor)], []],
  ['without any, as ever', times(5, poor), times(5, poor), []],
  ['without any, as ever but once', [...times(5, poor), full], times(5, poor), [notKept(5, 5)]],
  ['with a new field', times(5, full), [...times(2, full), ...times(3, more)], [UNKNOWN]],
  ['with a new field in half of them', times(5, full), [...times(3, full), ...times(3, more)], []],
  ['with a field that half of them had', [...times(3, full), ...times(3, more)], times(5, more), [UNKNOWN]],
  ['with a field that most of them had', [...times(2, full), ...times(3, more)], times(5, more), []],
  ['in another form', times(5, full), [...times(2, full), ...times(3, other)], [OTHER_FORM]],
  ['in another form in half of them', times(5, full), [...times(3, full), ...times(3, other)], []],
])('new answers %s', (_, earlier, brought, said) => {
  expect(oddities(earlier, brought)).toEqual(said);
});

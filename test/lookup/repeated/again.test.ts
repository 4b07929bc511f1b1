import {expect, test} from 'vitest';
import type {Outcome} from '../../../src/ledger/lookup.ts';
import {again} from '../../../src/lookup/repeated/again.ts';

const answer = '{"score":1.10,"verdict":{"can_pass":true,"redeemed":false},"id":12345678901234567890}';
const redeemed = answer.replace('false', 'true');
const ok = {status: 'ok', data: redeemed};
const failed = {status: 'failed', error: 'invalid_token'} as const;

test.each<[string, Outcome, unknown]>([
  ['a verdict', {status: 'ok', data: answer}, ok],
  ['a verdict on a token that is redeemed', {status: 'ok', data: redeemed}, ok],
  ['a verdict that may be of our own call', {status: 'unknown', error: 'x', data: redeemed}, ok],
  [
    'a verdict without its field',
    {status: 'ok', data: '{}'},
    {status: 'ok', data: '{"verdict":{"redeemed":true}}'},
  ],
  ['no verdict', failed, failed],
  ['a call whose outcome is unknown', {status: 'unknown', error: 'x'}, {status: 'unknown', error: 'x'}],
])('%s, asked for again', (_, first, later) => {
  expect(again('verify', first)).toEqual(later);
});

test('what is known of a value is the same however often it is asked for', () => {
  const first: Outcome = {status: 'ok', data: '{"is_vpn":true}'};
  expect(again('ip', first)).toBe(first);
});

import {expect, test} from 'vitest';
import type {Result} from '../../../src/ledger/lookup.ts';
import {again} from '../../../src/lookup/repeated/again.ts';
import {TEST_ACTION_ALWAYS_PASS, TEST_ACTION_NEVER_PASS} from '../../../src/operations/verify.ts';

const boughtAt = 7;
const answer = '{"score":1.10,"verdict":{"can_pass":true,"redeemed":false},"id":12345678901234567890}';
const redeemed = answer.replace('false', 'true');
const ok = {status: 'ok', data: redeemed, boughtAt} as const;
const verify = {operation: 'verify', key: 'k', params: {token: 's-1', action_id: 'signup'}} as const;
const failed = {status: 'failed', error: 'invalid_token'} as const;

test.each<[string, Result, unknown]>([
  ['a verdict', {status: 'ok', data: answer, boughtAt}, ok],
  ['a verdict on a token that is redeemed', {status: 'ok', data: redeemed, boughtAt}, ok],
  ['a verdict that may be of our own call', {status: 'unknown', error: 'x', data: redeemed, boughtAt}, ok],
  [
    'a verdict without its field',
    {status: 'ok', data: '{}', boughtAt},
    {status: 'ok', data: '{"verdict":{"redeemed":true}}', boughtAt},
  ],
  ['no verdict', failed, failed],
  ['a call whose outcome is unknown', {status: 'unknown', error: 'x'}, {status: 'unknown', error: 'x'}],
])('%s, asked for again', (_, first, later) => {
  expect(again(verify, first)).toEqual(later);
});

test('repeated rows of a value get the same answer', () => {
  const first: Result = {status: 'ok', data: '{"is_vpn":true}', boughtAt};
  expect(again({operation: 'ip', key: 'k', params: {}}, first)).toBe(first);
});

test.each([TEST_ACTION_ALWAYS_PASS, TEST_ACTION_NEVER_PASS])('action %s redeems nothing', action_id => {
  const lookup = {...verify, params: {...verify.params, action_id}};
  for (const data of [answer, redeemed])
    expect(again(lookup, {status: 'ok', data, boughtAt})).toEqual({status: 'ok', data, boughtAt});
});

import {expect, test} from 'vitest';
import type {CodeSubject} from '../../src/client/attempt.ts';
import {subjectOfCode} from '../../src/client/classify.ts';

const codes: Readonly<Record<CodeSubject, string>> = {
  moment: `rate_limit rate_limit_exceeded ratelimited too_many_requests throttled throttling overloaded
    maintenance under_maintenance try_again try_again_later retry_later service_busy service_unavailable
    server_timeout system_error gateway_timeout backend_unavailable error_of_the_server internal_error
    internal_server_error concurrent_request concurrent_requests_limit temporarily_unavailable unavailable busy timeout`,
  quota: 'quota quota_exceeded daily_quota monthly_quotas_used insufficient_credits no_credit credit_limit',
  value: `temporary_email internal_ip line_busy smtp_timeout mailbox_unavailable mailbox_quota_exceeded
    email_service_unavailable phone_error too_many_numbers addresses_busy invalid_token_rate_limit mx_timeout
    carrier_unavailable domain_error not_found invalid invalid_format blocked unknown_code error internal
    request_timeout connection_busy rate limited server`,
};

const spellings: readonly ((code: string) => string)[] = [
  code => code,
  code => code.toUpperCase(),
  code => code.replaceAll('_', '-'),
  code => code.replaceAll('_', '.'),
  code => `err:${code}`.replace(/^err:(?!rate|too|over|service|internal_e)/, ''),
  code => code.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase()),
  code => code.replace(/_(\w)/g, (_, first: string) => first.toUpperCase()),
];

test.each(Object.keys(codes) as CodeSubject[])('codes about the %s, in any spelling', subject => {
  for (const code of codes[subject].split(/\s+/))
    for (const spell of spellings)
      expect([spell(code), subjectOfCode(spell(code))]).toEqual([spell(code), subject]);
});

test('a message in words is judged by them', () => {
  expect(['Too many requests!', 'The mailbox is busy', ''].map(subjectOfCode)).toEqual([
    'moment',
    'value',
    'value',
  ]);
});

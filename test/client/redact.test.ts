import {describe, expect, test} from 'vitest';
import {classifyResponse, type RawResponse} from '../../src/client/classify.ts';
import {createRedactor, repeatsSentValue} from '../../src/client/redact.ts';

const KEY = 'canary/key+1f0c"9a';
const escaped = (text: string, unit: (code: string) => string) =>
  [...text].map(each => unit(each.charCodeAt(0).toString(16).padStart(4, '0'))).join('');

const spellings: readonly (readonly [string, string])[] = [
  ['as it is', JSON.stringify(KEY)],
  ['with an escaped slash', JSON.stringify(KEY).replaceAll('/', '\\/')],
  ['in code points', `"${escaped(KEY, code => `\\u${code}`)}"`],
  ['in code points in upper case', `"${escaped(KEY, code => `\\u${code.toUpperCase()}`)}"`],
  ['its first letter', JSON.stringify(KEY).replace('c', '\\u0063')],
  ['in JSON that is text', JSON.stringify(JSON.stringify({api_key: KEY}))],
  ['with an escaped slash in JSON that is text', JSON.stringify(JSON.stringify(KEY).replaceAll('/', '\\/'))],
  ['in a URL', JSON.stringify(`https://example.com/?key=${encodeURIComponent(KEY)}&a=1`)],
  ['in a form, in lower case', JSON.stringify('canary%2fkey%2b1f0c%229a')],
  ['in Base64', JSON.stringify(Buffer.from(KEY).toString('base64'))],
  ['in Base64 for a URL', JSON.stringify(`x=${Buffer.from(KEY).toString('base64url')}&`)],
  ['in hexadecimal digits', JSON.stringify(Buffer.from(KEY).toString('hex').toUpperCase())],
  ['in upper case', JSON.stringify(KEY.toUpperCase())],
  ['in HTML', JSON.stringify(`<b>${KEY.replace('"', '&quot;')}</b>`)],
  ['among other text', JSON.stringify(`the key ${KEY}, twice: ${KEY}`)],
];
const answer = (body: string, key: string): string => {
  const response: RawResponse = {status: 200, body, latencyMs: 1, pace: {limits: {}}};
  const attempt = classifyResponse('ip', response, {}, createRedactor(key));
  expect(attempt.kind).toBe('answered');
  return JSON.stringify(attempt);
};

describe('the key in an answer', () => {
  test.each(spellings)('%s', (_, spelled) => {
    const bodies = [
      `{"success":true,"data":{"city":${spelled}}}`,
      `{"success":true,"data":{"is_vpn":true,${spelled}:{"a":[{${spelled}:1.10}]}}}`,
      `{"success":true,"data":{"city":1,"isp":"A\\u0041","x":[[${spelled}]]}}`,
    ];
    for (const body of bodies) {
      const text = answer(body, KEY);
      expect(text).toContain('[key]');
      for (const part of ['canary', 'key+', '1f0c', '006'])
        expect(text.replaceAll('\\', '')).not.toContain(part);
    }
  });

  test('as a number', () => {
    const key = '1234567890';
    for (const number of [key, `${key}.0`, `[${key}]`])
      expect(answer(`{"success":true,"data":{"isp":"A","x":${number}}}`, key)).not.toContain(key);
  });

  test('nothing else changes', () => {
    const data = '{"city":"Z\\u00fcrich \\\\ \\" \\/","isp":"canary/key","__proto__":{"a":1.10}}';
    const text = answer(`{"success":true,"data":${data}}`, KEY);
    expect(text).not.toContain('[key]');
    expect(JSON.parse(text)).toMatchObject({data: {city: 'Zürich \\ " /', isp: 'canary/key'}});
  });

  test('in part, is no code, identifier or name', () => {
    const sent = {api_key: 'sk_live_4eC39HqLyjW'};
    for (const text of ['key:sk_live_4eC39HqL', 'KEY-4EC39HQL', 'live_4eC3-9HqL.denied'])
      expect([text, repeatsSentValue(text, sent)]).toEqual([text, true]);
    for (const text of ['sk_live_key_denied', '39HqLyj', 'live_1_limit'])
      expect([text, repeatsSentValue(text, sent)]).toEqual([text, false]);
  });

  test('is no code of a failure', () => {
    for (const message of ['plain-canary-key', 'plain-c\\u0061nary-key']) {
      const body = `{"success":false,"message":"${message}"}`;
      const response = {status: 400, body, latencyMs: 1, pace: {limits: {}}};
      const attempt = classifyResponse('ip', response, {}, createRedactor('plain-canary-key'));
      expect(attempt).toMatchObject({kind: 'rejected', code: 'service_error'});
    }
  });
});

import fc from 'fast-check';
import {describe, expect, test} from 'vitest';
import {markNumbers, unmarkNumbers} from '../../src/client/answer-fields.ts';
import {classifyResponse} from '../../src/client/classify.ts';
import {samples} from '../support/samples.ts';

const rewritten = (json: string) => unmarkNumbers(JSON.stringify(JSON.parse(markNumbers(json))));

describe('numbers keep their spelling', () => {
  test.each([
    ...'12345678901234567890 1e400 1.10 -0 0.10000000000000000001 1E5 0.0000001 1.0'.split(' '),
    '[1.10,"1.10",{"1.10":-0.0}]',
    '"\\" 1.10 \\\\"',
    '{"a":"1.0","b":1.0}',
  ])('%s', json => expect(rewritten(json)).toBe(json));

  test('any number, anywhere', () => {
    const digits = fc.stringMatching(/^(0|[1-9]\d{0,24})$/);
    const number = fc
      .tuple(fc.constantFrom('', '-'), digits, fc.stringMatching(/^(\.\d{1,25})?([eE][+-]?\d{1,3})?$/))
      .map(parts => parts.join(''));
    const text = fc.string().map(text => JSON.stringify(text));
    const item = fc.oneof(number, text, fc.constantFrom('true', 'null'));
    const json = fc.array(item).map(items => `[${items.join(',')}]`);
    const isKept = fc.property(json, text => void expect(rewritten(text)).toBe(text));
    fc.assert(isKept, {seed: 11, numRuns: samples(500)});
  });
});

describe('an answer', () => {
  const answer = (body: string) =>
    classifyResponse('ip', {status: 200, body, latencyMs: 1, pace: {limits: {}}}, {});

  test('has its numbers as numbers, and as they were spelled', () => {
    const data =
      '{"latitude":37.10,"city":1.10,"asn_number":1.0,"id":9223372036854775808,"x":{"y":[1e400,2]}}';
    expect(answer(`{"success": true, "data": ${data}}`)).toMatchObject({
      kind: 'answered',
      data: {latitude: 37.1, city: '1.10', asn_number: 1, id: 2 ** 63, x: {y: [Number.POSITIVE_INFINITY, 2]}},
      exact: '{"latitude":37.10,"city":"1.10","asn_number":1.0,"id":9223372036854775808,"x":{"y":[1e400,2]}}',
      wrongTypes: [],
    });
    for (const data of ['{"latitude":37.1}', '{"city":1.10}'])
      expect(answer(`{"success":true,"data":${data}}`)).not.toHaveProperty('exact');
  });

  test('has its numbers in lists as numbers too', () => {
    const body = '{"success":true,"score":1,"multi_accounting":{"accounts":[{"confidence":0.90}]}}';
    const response = {status: 200, body, latencyMs: 1, pace: {limits: {}}};
    const data = {multi_accounting: {accounts: [{confidence: 0.9}]}};
    expect(classifyResponse('verify', response, {})).toMatchObject({data, wrongTypes: []});
  });

  test.each(['{"success":true,"data":{1.0:2}}', '{"success":true,"data":{"a":01.0}}'])(
    'that is no JSON stays none: %s',
    body => expect(answer(body)).toMatchObject({kind: 'unreadable', detail: 'not JSON'}),
  );

  test('nested more deeply than can be written is unreadable', () => {
    for (const field of ['x', 'city', 'latitude']) {
      const deep = `${'['.repeat(100_000)}1.0${']'.repeat(100_000)}`;
      const {kind} = answer(`{"success":true,"data":{"${field}":${deep}}}`);
      expect(['unreadable', 'answered']).toContain(kind);
    }
  });
});

import {describe, expect, test} from 'vitest';
import {resolveRedisUrl} from '../../src/job/endpoint.ts';

const resolve = (given: string | undefined, variable?: string) =>
  resolveRedisUrl(given, '--fleet', variable === undefined ? {} : {BULK_ENRICH_REDIS_URL: variable});

describe('where the fleet is', () => {
  test.each([
    ['neither', undefined, undefined, undefined],
    ['the flag', 'redis://a:1', undefined, 'redis://a:1'],
    ['the variable, with its password', undefined, 'rediss://u:pw@a:1/2', 'rediss://u:pw@a:1/2'],
    ['none', 'none', 'redis://a:1', undefined],
    ['the flag before another place', 'redis://b', 'redis://:pw@a', 'redis://b'],
    ['the password of the same place', 'redis://a', 'redis://:pw@a:6379', 'redis://:pw@a:6379'],
    ['the same host, another database', 'redis://a/1', 'redis://:pw@a', 'redis://a/1'],
  ])('%s', (_, given, variable, wanted) => {
    expect(resolve(given, variable)).toBe(wanted);
  });

  test.each([
    ['redis://:pw@a', undefined, /^--fleet holds a password.*BULK_ENRICH_REDIS_URL/],
    ['http://a', undefined, /^--fleet is not the URL of a Redis/],
    ['redis:/1', undefined, /^--fleet is not the URL of a Redis/],
    [undefined, 'localhost:6379', /^BULK_ENRICH_REDIS_URL is not the URL of a Redis/],
    [undefined, ' ', /^BULK_ENRICH_REDIS_URL is set but empty/],
  ])('refused: --fleet %s, with the variable %j', (given, variable, message) => {
    expect(() => resolve(given, variable)).toThrow(message);
  });
});

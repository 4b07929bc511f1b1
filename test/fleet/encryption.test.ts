import {expect, test} from 'vitest';
import {createSeal, sealingSecret, sealPurposes} from '../../src/fleet/protocol.ts';

const value = {asks: [{operation: 'email', params: {email: 'someone@example.com'}}]};
const AS = sealPurposes.asks('run.session.1');

test('a sealed text opens with the same secret, and is never sealed alike twice', () => {
  const [first, second] = [createSeal('key-one').close(value, AS), createSeal('key-one').close(value, AS)];
  expect(createSeal('key-one').open(first, AS)).toEqual(value);
  expect(second).not.toBe(first);
  expect(Buffer.from(first, 'base64').toString('latin1')).not.toContain('example');
});

test('another key opens nothing, and the right one opens no changed or cut text', () => {
  const sealed = createSeal('key-one').close(value, AS);
  expect(createSeal('key-two').open(sealed, AS)).toBeUndefined();
  const bytes = Buffer.from(sealed, 'base64');
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
  expect(createSeal('key-one').open(bytes.toString('base64'), AS)).toBeUndefined();
  for (const length of [0, 11, 20, 28]) {
    const short = bytes.subarray(0, length).toString('base64');
    expect(createSeal('key-one').open(short, AS)).toBeUndefined();
  }
});

test.each([
  ['of another run', sealPurposes.asks('other.session.1')],
  ['of another session', sealPurposes.asks('run.other.1')],
  ['of another chunk', sealPurposes.asks('run.session.2')],
  ['in the other direction', sealPurposes.answers('run.session.1')],
])('what is sealed does not open in the place %s', (_, place) => {
  const seal = createSeal('key-one');
  expect(seal.open(seal.close(value, AS), place)).toBeUndefined();
});

test('the embedded service has no key, so its fleet needs a secret: none that everybody knows is used', () => {
  const embedded = {kind: 'embedded', byDefault: false} as const;
  const live = {kind: 'live', baseUrl: 'https://api.example.com', apiKey: 'live-key-of-16-ch'} as const;
  expect(sealingSecret(live, {})).toBe('live-key-of-16-ch');
  expect(sealingSecret(embedded, {BULK_ENRICH_API_KEY: 'a secret of our own'})).toBe('a secret of our own');
  expect(() => sealingSecret({...live, apiKey: 'seven-7'}, {})).toThrow(
    expect.objectContaining({code: 'fleet_secret'}),
  );
  for (const env of [{}, {BULK_ENRICH_API_KEY: 'too short'}])
    expect(() => sealingSecret(embedded, env)).toThrow(expect.objectContaining({code: 'fleet_secret'}));
});

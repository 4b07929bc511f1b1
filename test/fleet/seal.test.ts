import {expect, test} from 'vitest';
import {sealWith} from '../../src/fleet/seal.ts';

const value = {asks: [{operation: 'email', params: {email: 'someone@example.com'}}]};

test('what is sealed opens with the same API key, and never reads the same twice', () => {
  const [first, second] = [sealWith('key-one').close(value), sealWith('key-one').close(value)];
  expect(sealWith('key-one').open(first)).toEqual(value);
  expect(second).not.toBe(first);
  expect(Buffer.from(first, 'base64').toString('latin1')).not.toContain('example');
});

test('another key opens nothing, and neither does the right one what was changed on the way', () => {
  const sealed = sealWith('key-one').close(value);
  expect(() => sealWith('key-two').open(sealed)).toThrow('another API key');
  const bytes = Buffer.from(sealed, 'base64');
  bytes.writeUInt8(bytes.readUInt8(40) ^ 1, 40);
  expect(() => sealWith('key-one').open(bytes.toString('base64'))).toThrow('another API key');
});

test('the fingerprint tells keys apart and is not the sealing key', () => {
  expect(sealWith('key-one').fingerprint).toBe(sealWith('key-one').fingerprint);
  expect(sealWith('key-one').fingerprint).not.toBe(sealWith('key-two').fingerprint);
  expect(sealWith('key-one').fingerprint).toMatch(/^[0-9a-f]{16}$/);
});

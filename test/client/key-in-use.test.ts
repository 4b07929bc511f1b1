import {expect, test} from 'vitest';
import {KeyInUse} from '../../src/client/key-in-use.ts';

test('a key is read again once at a time, whatever is heard of calls that left before', async () => {
  const readings: ((key: string) => void)[] = [];
  const key = new KeyInUse('old', () => new Promise(resolve => readings.push(resolve)));
  const first = key.rejected('old');
  // Answered before the service changed its mind.
  key.accepted('old');
  const second = key.rejected('old');
  expect(readings).toHaveLength(1);
  readings[0]?.('new');
  expect(await Promise.all([first, second])).toEqual([{renewed: true}, {renewed: true}]);
  // The new one was not let in yet: what refuses it ends the run, instead of another reading.
  expect(await key.rejected('new')).toMatchObject({renewed: false});
  key.accepted('new');
  void key.rejected('new');
  expect(readings).toHaveLength(2);
});

test('after a rotation the old key is taken out of answers like the new one', async () => {
  const key = new KeyInUse('first-key-1', async () => 'second-key-2');
  await key.rejected('first-key-1');
  const body = {isp: 'first-key-1, second-key-2'};
  expect(key.redact(body, JSON.stringify(body))).toEqual({isp: '[key], [key]'});
});

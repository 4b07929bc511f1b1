import {expect, test} from 'vitest';
import type {Result} from '../../src/ledger/lookup.ts';
import {KeptWithAnswer} from '../../src/lookup/kept-with-answer.ts';

test('what is kept with an answer is no part of its text, and apart from what others keep', () => {
  const [texts, parsed] = [new KeptWithAnswer<string>(), new KeptWithAnswer<unknown>()];
  const result: Result = {status: 'ok', data: '{"a":1}', boughtAt: 0};
  texts.set(result, 'ok,,1');
  expect(parsed.get(result)).toBeUndefined();
  parsed.set(result, {a: 1});
  expect(texts.get(result)).toBe('ok,,1');
  expect(parsed.get(result)).toEqual({a: 1});
  expect(JSON.parse(JSON.stringify(result))).toEqual({status: 'ok', data: '{"a":1}', boughtAt: 0});
});

test('what has no answer keeps nothing, as all runs of the process may share it', () => {
  const texts = new KeptWithAnswer<string>();
  const empty: Result = {status: 'empty'};
  texts.set(empty, 'empty,,');
  expect(texts.get(empty)).toBeUndefined();
  expect(Object.getOwnPropertySymbols(empty)).toEqual([]);
});

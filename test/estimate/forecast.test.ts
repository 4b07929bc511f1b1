import {expect, test} from 'vitest';
import {Forecast} from '../../src/estimate/forecast.ts';
import {intelligenceLookup} from '../../src/ledger/lookup.ts';
import {perOperation} from '../../src/operations/table.ts';
import {dueAge, type KnownAnswer} from '../../src/store/validity.ts';

const DAY = 86_400_000;
const NOW = 20_000 * DAY;
const lookup = intelligenceLookup('email', 'jo@example.com');
const terms = perOperation(() => ({answers: 30 * DAY, rejections: 10 * DAY, stale: 5 * DAY}));

/** Numbers of the coming days, from 1 on, on which the value is asked for. */
function daysOf(known: KnownAnswer | undefined): number[] {
  const forecast = new Forecast(70, terms, NOW);
  forecast.add(lookup, known, 1_000);
  expect(forecast.days.map(({cost}) => cost)).toEqual(forecast.days.map(({calls}) => calls * 1_000));
  return forecast.days.flatMap(({calls}, i) => Array.from({length: calls}, () => i + 1));
}

/** Days on which the value is asked for if it is asked for today and keeps its answers for this many days. */
function afterToday(term: number): number[] {
  const age = dueAge(lookup.key, term * DAY) / DAY;
  const days: number[] = [];
  for (let day = Math.floor(age) + 1; day <= 70; day += Math.floor(age) + 1) days.push(day);
  return days;
}

const answer = (age: number) => ({status: 'ok', data: '{}', boughtAt: NOW - age * DAY}) as const;
const rejection = (age: number) =>
  ({status: 'failed', error: 'odd', rejected: true, boughtAt: NOW - age * DAY}) as const;

test.each<[string, KnownAnswer | undefined, number]>([
  ['no answer', undefined, 30],
  ['a due answer', {outcome: answer(30), validity: 'due'}, 30],
  ['a stale answer', {outcome: answer(34), validity: 'stale'}, 30],
  ['a past rejection', {outcome: rejection(40), validity: 'past'}, 10],
])('a value with %s is asked for today, so it is next due once the new answer is', (_, known, term) => {
  expect(daysOf(known)).toEqual(afterToday(term));
});

test('a value with a fresh answer is next due once that is', () => {
  const [first = 0, second = 0] = afterToday(30);
  expect(daysOf({outcome: answer(20), validity: 'fresh'}).slice(0, 2)).toEqual([first - 20, second - 20]);
});

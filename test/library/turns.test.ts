import {afterEach, expect, it, vi} from 'vitest';
import {enrich} from '../../src/index.ts';
import {address, bySpeed, startProgram} from './program.ts';

/** Milliseconds that each row takes to be made and used, by the clock that the library has. */
const ROW_MS = 1;
const LONGEST_TURN_MS = 20;
const COUNT = 600;

afterEach(() => vi.restoreAllMocks());

/** Moves the clock on by `ROW_MS` with each note, and counts the notes in each turn of the event loop. */
function countTurns() {
  const elapsed = performance.now.bind(performance);
  let later = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => elapsed() + later);
  const counts = [0];
  const turn = () => {
    counts.push(0);
    immediate = setImmediate(turn);
  };
  let immediate = setImmediate(turn);
  const note = () => {
    later += ROW_MS;
    counts.push((counts.pop() ?? 0) + 1);
  };
  const most = () => {
    clearImmediate(immediate);
    return Math.max(...counts);
  };
  return {note, most};
}

const sources = {
  array: (note: () => void) => {
    let n = 0;
    const next = () => {
      if (n === COUNT) return {done: true, value: undefined} as const;
      note();
      return {done: false, value: {ip: address(n++ % 50)}} as const;
    };
    return {[Symbol.iterator]: () => ({next})};
  },
  'async generator': async function* (note: () => void) {
    for (let n = 0; n < COUNT; n += 1) {
      note();
      yield {ip: address(n % 50)};
    }
  },
};

/** A program to which 50 addresses are known, so that nothing else holds the rows up. */
async function startKnowing() {
  const program = await startProgram();
  const settings = {...bySpeed, ip: 'ip', score: 'none', store: program.temporary} as const;
  const rows = Array.from({length: 50}, (_, n) => ({ip: address(n)}));
  for await (const _ of enrich(rows, settings, program.options));
  return {program, settings};
}

it.each(Object.entries(sources))('rows of an %s are read in turns of 20 ms at most', async (_, source) => {
  const {program, settings} = await startKnowing();
  await using _server = program;
  const turns = countTurns();
  for await (const _ of enrich(source(turns.note), settings, program.options));
  expect(turns.most()).toBeLessThanOrEqual(LONGEST_TURN_MS / ROW_MS);
});

it('rows that are complete at once are given in turns, too', async () => {
  const {program, settings} = await startKnowing();
  await using _server = program;
  const rows = Array.from({length: COUNT}, () => ({ip: address(0)}));
  const turns = countTurns();
  for await (const _ of enrich(rows, settings, program.options)) turns.note();
  expect(turns.most()).toBeLessThanOrEqual(LONGEST_TURN_MS / ROW_MS);
});

import fc from 'fast-check';
import type {Command, Sequence} from '../model/commands.ts';
import {again, cutOff, distinct, fine, type Means, night, plain, sometimes} from './night.ts';

const {constant, constantFrom, integer, record, tuple} = fc;

/** Nights whose store, state, list or account is another one in between. */
export function places({specWith, rows}: Means): fc.Arbitrary<Sequence>[] {
  /** The store is locked while a run, for minutes, saves what it has come to, and is then cut off. */
  const locked = night(
    distinct(20, 24),
    tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        concurrency: 1,
        maxCredits: undefined,
        maxErrors: undefined,
        until: undefined,
        requireStore: false,
      }),
      cutOff(105, 130),
    ).map(([one, fate]): Command[] => [
      {do: 'run', spec: {...one, input: 1, output: 1}, course: fine},
      {do: 'store', cache: 'own', how: 'lock', seconds: 200},
      {do: 'run', spec: {...one, input: 0}, course: {...fine, latencyMs: 4_000, fate}},
    ]),
  );

  /** A run is cut off before the store has its answers, and its output is begun anew for another account or endpoint. */
  const takenOver = night(
    rows(4, 10),
    tuple(
      specWith({...plain, cache: 'own', maxCredits: undefined, requireStore: false, until: undefined}),
      cutOff(30, 80),
      constantFrom({account: 1}, {endpoint: 1}),
      sometimes(constant<Command>({do: 'store', cache: 'own', how: 'lock', seconds: 60})),
    ).map(([one, fate, other, lock]): Command[] => [
      ...(lock === undefined ? [] : [lock]),
      {do: 'run', spec: {...one, account: 0, endpoint: 0}, course: {...fine, fate}},
      again(fine, {...other, restart: true}),
      again(fine, {account: 0, endpoint: 0, restart: true, force: true}),
    ]),
  );

  /** An attempt with rows that can't be read is cut off, and started over once its list is repaired. */
  const repaired = record({
    inputs: rows(2, 6).map(own => [
      [{ip: 0, email: 0, token: 0, broken: true as const}, ...own],
      own.slice(0, 1),
    ]),
    commands: tuple(
      specWith({...plain, columns: 'ip', concurrency: 1, maxErrors: undefined}),
      cutOff(22, 45),
      rows(1, 4),
    ).map(([one, fate, own]): Command[] => [
      {do: 'run', spec: one, course: {...fine, latencyMs: 60, fate}},
      {do: 'input', input: 0, how: 'replace', rows: own.map(({broken: _, ...row}) => row)},
      again(fine, {restart: true, force: true}),
    ]),
    fleet: constant(false),
  });

  /** The state's directory is moved to another disk, or back, between a kill and the session after it. */
  const moved = night(
    rows(1, 6),
    tuple(
      specWith({...plain, columns: 'ip', state: 1, packed: false}),
      cutOff(20, 60),
      sometimes(cutOff(5, 60)),
    ).map(([one, fate, second]): Command[] => [
      {do: 'run', spec: {...one, state: 1}, course: {...fine, fate}},
      {do: 'mount', state: 1},
      again({...fine, fate: second}),
      again(fine),
    ]),
  );

  /** Two endpoints or accounts have the same list and output in turn, each starting over what the other left. */
  const inTurn = night(
    rows(2, 8),
    tuple(
      specWith({...plain, endpoint: 0, account: 0, maxCredits: undefined}),
      constantFrom({endpoint: 1}, {account: 1}),
      tuple(cutOff(18, 50), cutOff(18, 50), sometimes(cutOff(18, 50))),
      constantFrom('own' as const, 'none' as const),
    ).map(([one, other, [first, second, third], cache]): Command[] => [
      {do: 'run', spec: {...one, cache}, course: {...fine, latencyMs: 60, fate: first}},
      again({...fine, latencyMs: 60, fate: second}, {...other, restart: true}),
      again({...fine, latencyMs: 60, fate: third}, {endpoint: 0, account: 0, restart: true}),
      again(fine, {...other, restart: true, force: true}),
    ]),
  );

  /** The disk takes no writes any more in the middle of a run's calls, with what it took of its account's credits. */
  const full = record({
    inputs: distinct(4, 10).map(own => [own, own.slice(0, 1)]),
    commands: tuple(
      specWith({
        ...plain,
        endpoint: 0,
        account: 0,
        columns: 'ip',
        cache: 'none',
        stdin: false,
        until: undefined,
      }),
      constantFrom('ENOSPC' as const, 'ENOSPC' as const, 'EIO' as const),
      integer({min: 20, max: 300}),
      constantFrom([], [{from: 2, count: 2, kind: 'refused' as const}]),
    ).map(([one, how, afterMs, faults]): Command[] => [
      {do: 'disk', how, afterMs, seconds: 60},
      {do: 'run', spec: {...one, rate: 'unlimited'}, course: {faults, latencyMs: 60}},
      {do: 'disk', how, afterMs: 0, seconds: 0},
      again(fine),
    ]),
    accountPerDay: constantFrom(10_000, 8, undefined),
    fleet: constant(false),
  });

  /** The key is renewed in the middle of a run's calls; at times twice, or before the run goes on. */
  const renewed = night(
    distinct(8, 14),
    tuple(
      specWith({
        ...plain,
        endpoint: 0,
        columns: 'ip',
        cache: 'own',
        until: undefined,
        keyFile: true,
        concurrency: 1,
        offline: undefined,
      }),
      integer({min: 60, max: 300}),
      sometimes(integer({min: 20, max: 200})),
      sometimes(cutOff(20, 80)),
    ).map(([one, first, second, fate]): Command[] => [
      {do: 'renewKey', account: one.account, afterMs: first},
      ...(second === undefined
        ? []
        : [{do: 'renewKey' as const, account: one.account, afterMs: first + second}]),
      {do: 'run', spec: one, course: {...fine, latencyMs: 60, fate}},
      again(fine, {force: true}),
    ]),
  );

  /** A run is cut off as it puts its files in place; so is the one that starts over, before it has begun. */
  const unpublished = record({
    inputs: distinct(2, 6).map(own => [
      [{ip: 0, email: 0, token: 0, broken: true as const}, ...own],
      own.slice(0, 1),
    ]),
    commands: tuple(
      specWith({
        ...plain,
        columns: 'ip',
        cache: 'own',
        concurrency: 8,
        maxErrors: undefined,
        until: undefined,
      }),
      cutOff(38, 62),
      cutOff(4, 8),
    ).map(([one, fate, second]): Command[] => [
      {do: 'run', spec: one, course: {...fine, fate}},
      again({...fine, fate: second}, {restart: true}),
      again(fine),
    ]),
    fleet: constant(false),
  });

  return [unpublished, renewed, renewed, full, full, locked, takenOver, repaired, moved, inTurn];
}

import {mkdirSync, rmSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {afterEach, beforeEach, expect, test, vi} from 'vitest';
import {operations} from '../../src/operations/table.ts';
import {openStage, type Stage} from '../support/stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await openStage();
  stage.write('list.csv', `ip,note\n${[1, 2, 3, 4].map(n => `192.0.2.${n},n${n}\n`).join('')}`);
});
afterEach(async () => {
  vi.restoreAllMocks();
  await stage[Symbol.asyncDispose]();
});

const told =
  /^Row 2: this program failed at a cell.*internal_error.*report this sentence \(version .+: TypeError, /;
const settings = {ip: 'ip', score: 'none'};

function failAt(value: string) {
  const {canonical} = operations.ip;
  vi.spyOn(operations.ip, 'canonical').mockImplementation((text, country, rules) =>
    text === value
      ? {state: 'broken', thrown: new TypeError('192.0.2.2 is odd')}
      : canonical(text, country, rules),
  );
}

test('a cell that can not be judged fails alone: told once, with its row and no value', async () => {
  failAt('192.0.2.2');
  const {code, warnings, summary} = await stage.run(settings);
  expect([code, stage.api.ledger.calls]).toEqual([3, 3]);
  expect(warnings).toEqual([expect.stringMatching(told)]);
  expect(warnings.join()).not.toContain('192.0.2.2');
  expect(summary?.errors).toEqual([{code: 'ip.internal_error', count: 1, rows: [2]}]);
  expect(stage.read('out.csv').split('\n')[2]).toContain('failed,internal_error');
});

test('an exception inside a judge is such a cell, of every kind, also in a column that is not looked up', async () => {
  stage.write('list.csv', 'ip,note\n192.0.2.1,fe80::1%eth0.100\n192.0.2.2,x\n192.0.2.3,y\n');
  expect(await stage.run({score: 'none'})).toMatchObject({code: 0, warnings: []});
  vi.spyOn(String.prototype, 'trim').mockImplementation(() => {
    throw new TypeError('no');
  });
  const {ip, phone, email, verify} = operations;
  const states = [ip, phone, email, verify].map(judge => judge.canonical('a').state);
  vi.restoreAllMocks();
  expect(states).toEqual(['broken', 'broken', 'broken', 'broken']);
});

test('a row that can not be written keeps its own cells; the rest of the list is as usual', async () => {
  const watch = ({input: {layout}}: {readonly input: {readonly layout: object}}) => {
    const {encoder} = layout as {
      encoder: {encode: (rows: readonly {row: {record: number}; results: {status: string}[]}[]) => string};
    };
    const encode = encoder.encode.bind(encoder);
    encoder.encode = rows => {
      if (rows.some(({row, results}) => row.record === 2 && results[0]?.status === 'ok'))
        throw new TypeError('x');
      return encode(rows);
    };
  };
  const {code, warnings, summary} = await stage.run(settings, {watch});
  expect([code, stage.api.ledger.calls]).toEqual([3, 4]);
  expect(warnings).toEqual([expect.stringMatching(told)]);
  const lines = stage.read('out.csv').split('\n');
  const cells = ['ip', '192.0.2.1', '192.0.2.2', '192.0.2.3', '192.0.2.4', ''];
  expect(lines.map(line => line.split(',')[0])).toEqual(cells);
  expect(summary?.lookups.ip).toMatchObject({answered: 3, failed: 1});
});

test('a row that can not be scored has its answers, and an unknown risk', async () => {
  const watch = ({input: {layout}}: {readonly input: {readonly layout: object}}) => {
    const {scorer} = layout as {scorer: {score: (view: {row: {record: number}}) => object}};
    const score = scorer.score.bind(scorer);
    scorer.score = view => {
      if (view.row.record === 2) throw new TypeError('x');
      return score(view);
    };
  };
  const {warnings, summary} = await stage.run({ip: 'ip'}, {watch});
  expect(warnings).toEqual([expect.stringMatching(told)]);
  expect(stage.read('out.csv').split('\n')[2]).toMatch(/unknown.*internal_error/);
  expect(summary?.lookups.ip).toMatchObject({answered: 4, failed: 0});
});

test.each(['the progress', 'the history'])(
  'an error of %s at the start ends the session as a stop does',
  async of => {
    let close: ReturnType<typeof vi.spyOn> | undefined;
    const watch = ({input: {source}}: {readonly input: {readonly source: {close: () => Promise<void>}}}) => {
      close = vi.spyOn(source, 'close');
      if (of === 'the progress') throw new TypeError('odd');
      writeFileSync(join(state, 'runs'), '');
    };
    // No history can be kept, and the program's function throws at the first warning.
    let warnings = 0;
    const state = join(stage.env['XDG_STATE_HOME'] ?? '', 'bulk-enrich');
    mkdirSync(state, {recursive: true, mode: 0o700});

    const warned = () => {
      if (warnings++ === 0) throw new TypeError('odd');
    };
    const failed = await stage.run(settings, {watch, warned});
    expect(failed).toMatchObject({code: 1, message: 'Internal error: odd'});
    expect(close).toHaveBeenCalled();
    rmSync(state, {recursive: true});
    expect(await stage.run(settings)).toMatchObject({code: 0});
  },
);

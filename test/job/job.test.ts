import {mkdirSync, realpathSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {describe, expect, test} from 'vitest';
import {resolveJob} from '../../src/job/job.ts';
import {checkSettings, createSettingLocator} from '../../src/job/parse.ts';
import {newDirectory} from '../support/new-directory.ts';

function job(inputs: readonly string[], output?: string, given: object = {}, fromFile = false) {
  const checked = checkSettings(undefined, {endpoint: 'embedded', ...given});
  const {name: _, input: __, output: ___, ...settings} = checked;
  const placeOf = createSettingLocator(undefined, {});
  return resolveJob({inputs, output, settings, fromFile, placeOf}, {}, false);
}

describe('where the output goes', () => {
  test.each([
    ['signups.csv', {}, 'signups.enriched.csv'],
    ['in/signups.csv', {}, 'in/signups.enriched.csv'],
    ['/data/signups.tsv', {}, '/data/signups.enriched.tsv'],
    ['signups.csv.gz', {}, 'signups.enriched.csv'],
    ['signups.ndjson.zst', {}, 'signups.enriched.ndjson'],
    ['signups.tsv.zstd', {}, 'signups.enriched.tsv'],
    ['signups.v2.csv', {}, 'signups.v2.enriched.csv'],
    ['signups', {}, 'signups.enriched.csv'],
    ['signups.dat', {}, 'signups.dat.enriched.csv'],
    ['signups.csv', {outputFormat: 'ndjson'}, 'signups.enriched.ndjson'],
    ['signups.csv', {outputFormat: 'tsv'}, 'signups.enriched.tsv'],
    ['signups.tsv', {outputFormat: 'csv-bom'}, 'signups.enriched.csv'],
  ])('%s %j → %s', (input, given, output) => {
    expect(job([input], undefined, given).output).toEqual({kind: 'file', name: output, lasts: true});
  });

  test('the summary, the rejects and the state lie beside it, unless told otherwise', () => {
    expect(job(['signups.csv']).paths).toEqual({
      summary: 'signups.enriched.summary.json',
      rejects: 'signups.enriched.rejects.ndjson',
      state: 'signups.enriched.csv.run',
    });
    const named = {summary: 's.json', rejects: 'r.ndjson', state: 'st'};
    const output = {kind: 'file', name: 'out/o.csv'};
    expect(job(['signups.csv'], 'out/o.csv', named)).toMatchObject({output, paths: named});
  });

  test.each(['-', '/dev/stdout'])('%s is streamed, and leaves only the files that the job names', output => {
    const none = {summary: undefined, rejects: undefined, state: undefined};
    expect(job(['signups.csv'], output)).toMatchObject({output: {kind: 'stream', to: '-'}, paths: none});
    expect(job(['signups.csv'], output, {summary: 's.json'}).paths).toEqual({...none, summary: 's.json'});
  });
});

test('a run needs an input, and an output where it has several; a job file that names its endpoint is one', () => {
  expect(() => job([])).toThrow(expect.objectContaining({code: 'no_input'}));
  expect(() => job(['a.csv', 'b.csv'])).toThrow(expect.objectContaining({code: 'no_output'}));
  expect(() => job(['a.csv'], undefined, {}, true)).not.toThrow();
});

test.each([
  ['in-{date}.csv', 'latest.csv', '2026-01-31'],
  ['latest.csv', 'out-{date}.csv', '2026-01-31'],
  ['latest.csv', 'out.csv', undefined],
])('%s to %s belongs to a day if a name has it, which commands then give: %s', (input, output, date) => {
  expect(job([input], output, {date: '2026-01-31'}).date).toBe(date);
});

describe('files', () => {
  const within = newDirectory();
  const at = (name: string) => join(realpathSync(within()), name);

  test.each(['state', 'summary', 'rejects', 'report', 'metrics'] as const)(
    '{date} in %s is the day, the job belongs to it, and a pattern matches such files of no day',
    name => {
      const {settings, date} = job(['in.csv'], 'out.csv', {date: '2026-01-31', [name]: 'of-{date}.html'});
      expect([settings[name], date]).toEqual(['of-2026-01-31.html', '2026-01-31']);
      for (const file of ['list.csv', 'of-2026-01-30.html/x.csv', 'out.csv.run/ledger.csv']) {
        mkdirSync(join(at(name), file, '..'), {recursive: true});
        writeFileSync(join(at(name), file), '');
      }
      const {inputs} = job([at(`${name}/**/*`)], at(`${name}/out.csv`), {
        date: '2026-01-31',
        [name]: at(`${name}/of-{date}.html`),
      });
      expect(inputs).toEqual([at(`${name}/list.csv`)]);
    },
  );

  test('a pattern does not match the output that the job has without a name for it', () => {
    mkdirSync(at('unnamed'));
    for (const name of ['list.csv', 'list.enriched.ndjson', 'list.enriched.summary.json'])
      writeFileSync(at(`unnamed/${name}`), '');
    const {inputs, output} = job([at('unnamed/*')], undefined, {outputFormat: 'ndjson'});
    expect([inputs, output.name]).toEqual([[at('unnamed/list.csv')], at('unnamed/list.enriched.ndjson')]);
  });

  test('an output keeps the long names that its files have from an earlier run', () => {
    writeFileSync(at('kept.csv.summary.json'), '{}');
    expect(job(['in.csv'], at('kept.csv')).paths).toMatchObject({
      summary: at('kept.csv.summary.json'),
      rejects: at('kept.csv.rejects.ndjson'),
    });
  });

  test('an output has one state, by its own name and by a link to it', () => {
    writeFileSync(at('real.csv'), '');
    symlinkSync('real.csv', at('link.csv'));
    for (const name of ['real.csv', 'link.csv'])
      expect(job(['in.csv'], at(name)).paths.state).toBe(at('real.csv.run'));
  });

  test('--restart begins no new count for an earlier day', () => {
    mkdirSync(at('day-2026-01-01.csv.run'), {recursive: true});
    const {settings} = job(['in.csv'], 'out.csv', {restart: true});
    const placeOf = createSettingLocator(undefined, {});
    const source = {inputs: ['in.csv'], output: at('day-{date}.csv'), settings, fromFile: false, placeOf};
    const {unfinished = []} = resolveJob(source, {}, false);
    const earlier = unfinished.map(day => day.resolve());
    expect(earlier.map(({date, settings}) => [date, settings.restart])).toEqual([['2026-01-01', false]]);
  });
});

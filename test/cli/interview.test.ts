import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {type Interviewed, interview} from '../../src/cli/init/interview.ts';
import {jobFile} from '../../src/cli/init/job-file.ts';
import type {Ask} from '../../src/cli/init/prompt.ts';
import {csvRows} from '../lookup/rows.ts';

const FACTS = {
  name: 'list',
  path: 'list.yaml',
  input: 'list.csv',
  output: 'out.csv',
  directory: '/srv/a b%',
  program: '/usr/bin/node /opt/bin.js',
  reading: {maxRecordSize: '4096'},
  account: {path: '/home/jo/accounts/main.yaml', endpoint: 'https://api.example.com'},
};

/** A person who gives these answers in turn, repeats each until it is accepted, and then presses Enter. */
function person(...answers: readonly string[]) {
  const asked: string[] = [];
  const left = [...answers];
  const ask: Ask = async (question, otherwise, check) => {
    for (;;) {
      asked.push(question);
      const answer = left.shift() ?? otherwise;
      if (check(answer) === undefined) return answer;
    }
  };
  return {ask, asked};
}

/** The result for a list of six equal rows. */
async function interviewed(
  table: Readonly<Record<string, string>>,
  answers: readonly string[],
  {live = false, interactive = true} = {},
): Promise<{asked: readonly string[]; answers: Interviewed}> {
  const {ask, asked} = person(...answers);
  const row = Object.values(table);
  const seen = {columns: Object.keys(table), rows: csvRows(row, row, row, row, row, row), live, interactive};
  return {answers: await interview(seen, ask, () => {}), asked};
}

describe('init asks only what the list does not show', () => {
  test('which service to ask and how much to spend', async () => {
    const {asked, answers} = await interviewed({ip: '192.0.2.1'}, ['LIVE', '500']);
    expect(asked).toEqual([
      expect.stringContaining('Which service to ask'),
      expect.stringContaining('credits'),
    ]);
    expect(answers).toMatchObject({endpoint: 'live', maxCredits: 500});
  });

  test('not which service, where a live service is configured', async () => {
    const {asked, answers} = await interviewed({ip: '192.0.2.1'}, [], {live: true});
    expect(asked).toHaveLength(1);
    expect(answers.endpoint).toBe('live');
  });

  test('the country of national numbers', async () => {
    const {asked, answers} = await interviewed({Telefonnummer: '030 23125 001'}, [
      'Germanny',
      'zz',
      'Germany',
    ]);
    expect(asked.filter(question => question.includes('national form'))).toHaveLength(3);
    expect(answers).toMatchObject({columns: {phone: ['Telefonnummer']}, defaultCountry: 'DE'});
  });

  test('not the country, where a column has it', async () => {
    const {asked, answers} = await interviewed({tel: '030 23125 001', land: 'DE'}, []);
    expect(asked.some(question => question.includes('national form'))).toBe(false);
    expect(answers).toMatchObject({columns: {phone: ['tel'], country: ['land']}, defaultCountry: undefined});
  });

  test('the country, where the column that has it is empty in some rows', async () => {
    const rows = csvRows(['030 23125 001', 'DE'], ['030 23125 002', '']);
    const {ask, asked} = person('de');
    const seen = {columns: ['tel', 'land'], rows, live: true, interactive: true};
    expect((await interview(seen, ask, () => {})).defaultCountry).toBe('DE');
    expect(asked[0]).toContain('some without a country in "land"');
  });

  test('the country column that it sees is offered, whatever its header', async () => {
    const list = {tel: '030 23125 001', office: 'Germany', branch: 'Berlin', flag: 'no'};
    const offered = await interviewed(list, []);
    expect(offered.asked.find(question => question.includes('national form'))).toContain('"office"');
    expect(offered.answers).toMatchObject({columns: {country: ['office']}, defaultCountry: undefined});
    expect((await interviewed(list, ['de'])).answers).toMatchObject({
      columns: {country: []},
      defaultCountry: 'DE',
    });
    const unasked = await interviewed({...list, mail: 'jo@example.com'}, [], {interactive: false});
    expect(unasked.answers.leftOut).toEqual([
      {column: 'tel', why: expect.stringContaining('country: office')},
    ]);
  });

  test('which of several addresses in a cell is meant', async () => {
    const list = {x_forwarded_for: '192.0.2.1, 198.51.100.7'};
    const {asked, answers} = await interviewed(list, ['middle', 'last']);
    expect(asked.filter(question => question.includes('several IP addresses'))).toHaveLength(2);
    expect(answers).toMatchObject({columns: {ip: ['x_forwarded_for']}, ipFromList: 'last'});
    expect(parse(jobFile(FACTS, answers))).toMatchObject({ip_from_list: 'last'});
  });

  test('asks if a column holds what its name says', async () => {
    const list = {ip: 'yes', email: 'jo@example.com'};
    expect((await interviewed(list, ['perhaps', 'y'])).answers.columns.ip).toEqual(['ip']);
    expect((await interviewed(list, ['no'])).answers).toMatchObject({
      columns: {ip: [], email: ['email']},
      leftOut: [{column: 'ip'}],
    });
  });

  test('the columns, where none looks like anything', async () => {
    const {answers} = await interviewed({a: 'x', b: 'y'}, ['none', 'none', 'c', 'b']);
    expect(answers.columns).toEqual({ip: [], phone: [], email: ['b'], country: []});
    await expect(interviewed({a: 'x'}, [])).rejects.toMatchObject({code: 'no_columns'});
  });
});

test('without a terminal, init leaves out what the list does not show, and says so', async () => {
  const list = {email: 'jo@example.com', tel: '030 23125 001'};
  const {answers} = await interviewed(list, [], {interactive: false});
  expect(answers).toMatchObject({columns: {phone: []}, endpoint: 'embedded', maxCredits: 1_000});
  expect(jobFile(FACTS, answers)).toContain('# Left out: "tel", phone numbers in national form');
});

describe('the job file', () => {
  test('replaces last night’s output, and says how to run it', async () => {
    const {answers} = await interviewed({'ip=': '192.0.2.1', email: 'jo@example.com'}, ['live', '7']);
    const text = jobFile(FACTS, answers);
    expect(text).toContain("cd '/srv/a b\\%' && /usr/bin/node /opt/bin.js run --job list.yaml");
    expect(parse(text)).toEqual({
      name: 'list',
      input: 'list.csv',
      max_record_size: '4096',
      output: 'out.csv',
      force: true,
      endpoint: 'live',
      ip: {column: 'ip='},
      email: 'email',
      max_credits: 7,
      report: 'list.html',
    });
  });
});

test('a cap is suggested from what the list costs, with room, in two digits', async () => {
  const asked: string[] = [];
  const ask: Ask = async (question, otherwise) => {
    asked.push(question);
    return otherwise;
  };
  const seen = {columns: ['ip'], rows: csvRows(['192.0.2.1'], ['192.0.2.2']), live: true, interactive: true};
  const found = await interview({...seen, costOf: async () => 1_234}, ask, () => {});
  expect([found.maxCredits, asked.at(-1)]).toEqual([1_900, expect.stringContaining('this list costs 1,234')]);
  // A list without values today has some tomorrow.
  expect((await interview({...seen, costOf: async () => 0}, ask, () => {})).maxCredits).toBe(1_000);
});

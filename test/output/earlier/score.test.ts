import {expect, test} from 'vitest';
import {NEVER_PASS_ACTION_ID} from '../../../src/operations/verify.ts';
import {createSandbox} from '../../support/command.ts';
import {runHere} from '../../support/main.ts';
import {opened} from '../../support/opened.ts';

const FILES = {
  'in.csv':
    'id,ip,mail,token,amount\n1,8.8.8.8,user@example.com,t1,5\n2,192.0.2.1,nonsense,t2,700\n3,,,,\n"4,5",1.1.1.1,a@mailinator.com,t4,=1+1\n',
  'new.yaml': `levels: {medium: 5, high: 50}
rules:
  - {when: double(row.amount) > 100, add: 20, reason: much}
  - {when: '!verify.verdict.can_pass', add: 40, reason: bot}
  - {when: ip.asn_number == 15169, add: 7, reason: known_network}
  - {when: has(email.domain) && email.trust_score < 30, add: 30, reason: low_trust}
  - {when: status.email == "invalid" || ip.latitude > 0, add: 11, reason: odd}
  - {when: 'now < timestamp("2000-01-01T00:00:00Z")', add: 3, reason: early}
`,
};
const box = opened(() => createSandbox(FILES));

/** Runs a list with the embedded service. */
const enrich = (line: string) => runHere(box, `run ${line} --endpoint embedded`);
const run = (output: string, rules: string, flags = '') =>
  enrich(
    `in.csv -o ${output} --score ${rules} --ip ip --email mail --verdict token=token,action=${NEVER_PASS_ACTION_ID} ${flags}`,
  );
const score = (line: string) => runHere(box, `score ${line}`);

/** Scores a list run without rules again by some: byte for byte what a run by those writes. */
async function scoredLater(list: string, kind: string, rules: string) {
  box.write('later.yaml', `rules:\n${rules}`);
  await enrich(`${list} -o out.${kind}`);
  await enrich(`${list} -o expected.${kind} --score later.yaml`);
  const {code, stdout} = await score(`out.${kind} --rules later.yaml -o again.${kind} --json`);
  const again = box.read(`again.${kind}`);
  expect([code, again]).toEqual([0, box.read(`expected.${kind}`)]);
  return {again, came: JSON.parse(stdout).reasons.came};
}

test.each([
  ['csv', ['default', 'none'], ''],
  ['ndjson', ['default', 'none'], ''],
  ['ndjson', ['default', 'none'], '--flatten'],
  ['csv', ['default'], '--escape-formulas all --output-format csv-bom'],
])(
  'a %s scored by %j, scored again, is byte for byte what a run by those rules writes %s; what it says is what diff says',
  async (kind, rules, flags) => {
    const [expected, again] = [`expected.${kind}`, `again.${kind}`];
    expect((await run(expected, 'new.yaml', flags)).stderr).not.toContain('Error');
    for (const before of rules) {
      await run(`out.${kind}`, before, `${flags} --force`);
      const {code, stdout, stderr} = await score(`out.${kind} --rules new.yaml -o ${again} --json --force`);
      expect([code, stderr]).toEqual([0, `4 rows written to ${again}.\n`]);
      expect(box.read(again)).toBe(box.read(expected));
      if (before === 'none') continue;
      const said = JSON.parse(stdout);
      expect(said.changed).toBeGreaterThan(0);
      const compared = await runHere(box, `diff out.${kind} ${expected} --key id --json`);
      expect({...said, key: ['id'], without_key: {old: 0, new: 0}}).toEqual(JSON.parse(compared.stdout));
    }
  },
);

test.each(['', '--flatten'])(
  'a row’s own fields with the names of results stay as they are when it is scored again %s',
  async flags => {
    const was = '"was":{"x":1,"risk":{"score":9},"risk_score":9,"input_repairs":null,"n":1.50}';
    const own = `${was},"mail":"a@mailinator.com"`;
    box.write('own.ndjson', `{"id":1,${own}}\n`);
    const rules = '  - {when: email.domain == "mailinator.com", add: 30, reason: throwaway}\n';
    const {again, came} = await scoredLater(`own.ndjson --email mail ${flags}`, 'ndjson', rules);
    expect([again, came]).toEqual([expect.stringContaining(`{"id":1,${own},`), {throwaway: 1}]);
  },
);

test('"now" is the start of the run of the output, or what is said', async () => {
  await run('out.csv', 'none');
  const early = async (now: string) =>
    JSON.parse((await score(`out.csv --rules new.yaml --json ${now}`)).stdout).reasons.came.early;
  expect([await early('--now 1999-12-31T00:00:00Z'), await early('')]).toEqual([4, undefined]);
  box.write('moved.csv', box.read('out.csv'));
  const moved = await score('moved.csv --rules new.yaml');
  expect([moved.code, moved.stderr]).toEqual([2, expect.stringContaining('Add --now')]);
});

const NO_CAN_PASS = 'has no column of verify.verdict.can_pass';

test.each([
  ['csv', '--fields ip.country', `out.csv ${NO_CAN_PASS}`],
  ['ndjson', '--fields ip.country --flatten', `out.ndjson ${NO_CAN_PASS}`],
  ['ndjson', '--fields ip.country,verify.score', `out.ndjson ${NO_CAN_PASS}`],
  ['csv', '--ip ip=seen_ --fields ip.country', 'the operation of the columns "seen_" is not clear'],
])(
  'a %s written with %s lacks what rules read: it is refused, and nothing is written',
  async (kind, flags, sentence) => {
    await run(`out.${kind}`, 'default', flags);
    for (const to of [`-o again.${kind}`, '']) {
      const {code, stderr} = await score(`out.${kind} --rules new.yaml ${to}`);
      expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)]);
    }
    expect(box.files()).not.toContain(`again.${kind}`);
  },
);

test('rules may read a field that no answer has, and that was not left out', async () => {
  box.write('list.csv', 'ip\n192.0.2.1\n');
  await enrich('list.csv --ip ip -o out.ndjson');
  expect(box.read('out.ndjson')).not.toContain('"is_threat":');
  box.write('rare.yaml', 'rules: [{when: ip.is_threat, add: 5, reason: threat}]\n');
  expect((await score('out.ndjson --rules rare.yaml')).code).toBe(0);
});

test.each([
  ['csv', {formula: 1, own: 1}],
  ['tsv', {formula: 1, own: 1}],
  ['ndjson', {as_written: 1, own: 1}],
])('in %s, rules read texts of answers as they were sent', async (kind, came) => {
  const rows = ["'=Berlin", "'s-Hertogenbosch"].map((ip_city, at) => {
    const row = {id: String(at + 1), ip_status: 'ok', ip_error: '', ip_city};
    return kind === 'ndjson' ? JSON.stringify(row) : Object.values(row).join();
  });
  const text = [...(kind === 'ndjson' ? [] : ['id,ip_status,ip_error,ip_city']), ...rows, ''].join('\n');
  box.write(`out.${kind}`, kind === 'tsv' ? text.replaceAll(',', '\t') : text);
  const literal = (text: string) => `"${text.replace("'", '\\u0027')}"`;
  const rule = (city: string, reason: string) => ({when: `ip.city == ${literal(city)}`, add: 1, reason});
  const rules = [rule('=Berlin', 'formula'), rule("'=Berlin", 'as_written'), rule("'s-Hertogenbosch", 'own')];
  box.write('cities.yaml', JSON.stringify({rules}));
  const {stdout} = await score(`out.${kind} --rules cities.yaml --json`);
  expect(JSON.parse(stdout).reasons.came).toEqual(came);
});

test.each([
  [8, 'input_corrupt', '', ',"note":1}\n'],
  // Its end looks like the answers' end.
  [8, 'input_corrupt', '', ',"7":{"by":"me"}}\n'],
  [8, 'input_corrupt', '--score none', ',"review":{"by":"me"}}\n'],
  [2, 'not_output', '--flatten', ',"note":1}\n'],
])(
  'rows that do not end with their answers are refused (%i, %s), and nothing is written',
  async (code, errorCode, flags, added) => {
    box.write('own.ndjson', '{"id":1,"mail":"a@mailinator.com"}\n');
    box.write('more.yaml', 'rules:\n  - {when: email.is_valid, add: 30, reason: valid}\n');
    await enrich(`own.ndjson --email mail ${flags} -o out.ndjson`);
    box.write('out.ndjson', box.read('out.ndjson').replace(/\}\n$/, added));
    expect(await score('out.ndjson --rules more.yaml -o again.ndjson')).toMatchObject({code, errorCode});
    expect(box.files()).not.toContain('again.ndjson');
  },
);

test.each(['csv', 'ndjson', 'ndjson --flatten'])(
  'two columns of one kind are told apart when a %s is scored again',
  async written => {
    const [kind, flags = ''] = written.split(' ');
    box.write('two.csv', 'signup_ip,last_ip\n192.0.2.1,8.8.8.8\n8.8.8.8,192.0.2.1\n');
    const rule = (ip: string, reason: string) => `  - {when: ${ip}.is_bogon, add: 5, reason: ${reason}}\n`;
    const rules = rule('signup_ip', 'first') + rule('last_ip', 'last');
    const {came} = await scoredLater(`two.csv --ip signup_ip --ip last_ip ${flags}`, String(kind), rules);
    expect(came).toEqual({first: 1, last: 1});
  },
);

test.each(['csv', 'ndjson --flatten'])(
  'a %s with some of the columns has the same ones when it is scored again',
  async written => {
    const [kind, flags = ''] = written.split(' ');
    const list = `in.csv --ip ip --fields ip.country,risk.missing ${flags}`;
    const rules = '  - {when: ip.country == "US", add: 5, reason: us}\n';
    expect((await scoredLater(list, String(kind), rules)).again).not.toContain('risk_points');
  },
);

test('--bad shows which rules and levels bad rows have more often than others', async () => {
  // 12 bad rows with a throwaway address, 3 without; 40 others, 4 of them with one.
  const row = (n: number, mail: string, banned: number) => `${n},${mail}${n}@${mail}.com,${banned}\n`;
  const rows = Array.from({length: 55}, (_, n) => {
    const isThrowaway = n < 12 || (n >= 15 && n < 19);
    return row(n, isThrowaway ? 'mailinator' : 'example', n < 15 ? 1 : 0);
  });
  box.write('list.csv', `id,mail,banned\n${rows.join('')}`);
  box.write(
    'bad.yaml',
    `levels: {medium: 5, high: 50}
rules:
  - {when: email.domain == "mailinator.com", add: 30, reason: throwaway}
  - {when: row.id == "7", add: 1, reason: seven, shadow: true}
  - {when: row.banned == "1", add: 0, reason: cheating}
`,
  );
  await enrich('list.csv --email mail -o out.csv');
  const bad = (flags = '', value = '1') =>
    score(`out.csv --rules bad.yaml --bad row.banned=="${value}" ${flags}`);
  const {bad_rows: found} = JSON.parse((await bad('--json')).stdout);
  expect(found.rows).toEqual({bad: 15, others: 40});
  expect(found.reasons).toEqual([
    {name: 'throwaway', bad: 12, others: 4, times: 8},
    {name: 'seven', bad: 1, others: 0, times: null},
    {name: 'cheating', bad: 15, others: 0, times: null},
  ]);
  const medium = found.levels.find(({name}: {name: string}) => name === 'medium');
  expect(medium).toMatchObject({bad: 12, others: 4});
  const {stdout} = await bad();
  expect(stdout).toMatch(/^15 bad rows, 40 others:$/m);
  expect(stdout).toMatch(/^throwaway +12 +4 +80% +10% +8\.0 ×$/m);
  expect(stdout).toMatch(/^seven +1 +0 +6\.7% +0% +too few$/m);
  const wrong = await bad('', 'yes');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('--bad holds for no row')]);
});

import {expect, test} from 'vitest';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const box = opened(createSandbox);

const RULES = `rules:
  - {when: ip.is_tor_node, add: 40, reason: tor, owner: fraud team, description: Anonymous exits}
  - {when: signup_ip.country != row.country, add: 15, reason: elsewhere}
  - {when: 'status.email == "invalid"', add: 20, reason: no_mail}
  - {when: email.trust_score < 30, add: 50, reason: distrusted, shadow: true}
  - {when: 'now > timestamp("2030-01-01T00:00:00Z")', add: 1, reason: late}
`;

const testOf = (file: string, env = {}) => {
  box.write('rules.yaml', file);
  return runHere(box, ['rules', 'test', 'rules.yaml'], {env});
};
const rulesTest = (tests: string, env = {}) => testOf(`${RULES}tests:\n${tests}`, env);

test('rules and tests in a job file: the advice for one without tests can be followed', async () => {
  const job = (tests: string) => {
    const rules = RULES.replaceAll('\n', '\n  ');
    box.write('job.yaml', `input: list.csv\nforce: true\nscore:\n  ${rules}${tests}`);
    return runHere(box, ['rules', 'test', 'job.yaml']);
  };
  const {code, message = ''} = await job('');
  const said = 'Add them below "tests:", within "score:", such as';
  expect([code, message]).toEqual([2, expect.stringContaining(said)]);
  const [, one = ''] = /such as (\{.*\})\.$/.exec(message) ?? [];
  expect((await job(`tests:\n    - ${one}\n`)).stdout).toContain('job.yaml: 1 of 1 test passed');
});

test('tests that hold pass, and rules that no test reaches are named', async () => {
  const tests = `
  - name: tor abroad
    row: {country: US}
    answers: {signup_ip: {is_tor_node: true, country: DE}}
    score: 55
    level: medium
    reasons: [elsewhere, tor]
  - {status: {email: invalid}, error: {email: email_malformed}, score: 20, level: low}
  - {answers: {email: {trust_score: 1}}, score: 0, reasons: []}
  - {status: {ip: failed}, error: {ip: timeout}, score: null, level: unknown}
`;
  const stdout = 'rules.yaml: 4 of 4 tests passed. No test reaches 1 of 5 rules: late.\n';
  expect(await rulesTest(tests)).toMatchObject({code: 0, stdout});
});

test('a failed test shows the result, ends with exit 4, and is annotated in GitHub Actions', async () => {
  const tests = `
  - {name: moon, now: "2031-01-01T00:00:00Z", answers: {ip: {is_tor_node: true}}, score: 40, level: high, reasons: [tor]}
`;
  const {code, stdout, stderr} = await rulesTest(tests, {GITHUB_ACTIONS: 'true'});
  expect(code).toBe(4);
  expect(stdout).toContain(
    'FAILED rules.yaml:9: tests.0: moon: score 41, expected 40; level medium, expected high; reasons late, tor, expected tor.\n',
  );
  expect(stderr).toContain(
    '::error file=rules.yaml,line=9,title=bulk-enrich%3A moon::score 41, expected 40;',
  );
});

test.each([
  ['  - {answers: {ip: {is_tor: true}}, score: 1}', /^rules\.yaml:8: tests\.0: .*"is_tor_node"/],
  ['  - {answers: {last_ip: {is_tor: true}}, score: 1}', /^rules\.yaml:8: tests\.0: .*"is_tor_node"/],
  ['  - {answers: {car: {is_tor: true}}, score: 1}', /^rules\.yaml:8: tests\.0: "car"/],
  ['  - {shared: {signup_ip: {netwrk: 9}}, score: 1}', /^rules\.yaml:8: tests\.0: .*"network"/],
  [
    '  - {shared: {signup_ip: {mailbox: 9}}, score: 1}',
    /^rules\.yaml:8: tests\.0: .*"shared\.signup_ip\.mailbox"/,
  ],
  ['  - {shared: {ip: {network: 9}}, score: 1}', /^rules\.yaml:8: tests\.0: .*"shared\.ip\.network"/],
  ['  - {shared: {mailbx: 9}, score: 1}', /^rules\.yaml:8: tests\.0: .*"mailbox"/],
  ['  - {answers: {ip: {is_vpn: true}}}', /^rules\.yaml:8: tests\.0: /],
  ['  - {answer: {}, score: 1}', /^rules\.yaml:8: tests\.0\.answer: /],
  ['  []', /^rules\.yaml/],
])('%s is refused with its place', async (tests, message) => {
  const refused = {code: 2, errorCode: 'score_rules', message: expect.stringMatching(message)};
  expect(await rulesTest(tests)).toMatchObject(refused);
});

test('a test knows no more than it says: no answer, and a time long ago; statuses may name single columns', async () => {
  const {stdout} = await testOf(`rules:
  - {when: ip.is_vpn, add: 40, reason: vpn}
  - {when: 'now > timestamp("2020-01-01T00:00:00Z")', add: 1, reason: late}
  - {when: 'status.email == "failed"', add: 70, reason: down}
tests:
  - {score: null, level: unknown, reasons: []}
  - {answers: {ip: {is_vpn: true}}, score: 40, reasons: [vpn]}
  - {answers: {ip: {is_vpn: false}}, status: {backup_email: failed}, score: 70, reasons: [down]}
`);
  expect(stdout).toBe('rules.yaml: 3 of 3 tests passed. No test reaches 1 of 3 rules: late.\n');
});

test.each([
  ['mine', '', /rules\.yaml:4.*rules\.yaml:3.*"mine".*shared_reasons/],
  ['mine', 'shared_reasons: [other]\n', /"mine"/],
  ['mine', 'shared_reasons: [mine]\n', undefined],
  ['tor', '', /"tor"/],
])('two rules of the reason %s are a mistake unless they are declared: %j', async (reason, more, message) => {
  const rules = ['ip.is_vpn', 'ip.is_bogon'].map(when => `  - {when: ${when}, add: 1, reason: ${reason}}\n`);
  const file = `base: default\nrules:\n${rules.join('')}${more}tests: [{score: 0}]\n`;
  const {errorCode, ...said} = await testOf(file);
  expect(errorCode).toBe(message && 'score_rules');
  expect(said.message ?? '').toMatch(message ?? /^$/);
});

test('the default rules need no tests, but count in those of one’s own', async () => {
  const {stdout} = await testOf(`base: default
rules:
  - {when: ip.is_vpn && ip.is_threat, add: 1, reason: both}
  - {when: ip.is_bogon && ip.is_vpn, add: 1, reason: odd}
tests:
  - {answers: {ip: {is_vpn: true, is_threat: true}}, reasons: [vpn, ip_threat, both]}
`);
  expect(stdout).toBe('rules.yaml: 1 of 1 test passed. No test reaches 1 of 2 rules: odd.\n');
});

test('a shadow rule changes nothing of the rows, and is counted and shown', async () => {
  // The second address can't be looked up: a rule that counts and reads it could not score the row.
  box.write('in.csv', 'ip,mail\n192.0.2.1,\n8.8.8.8,"x@example.com, y@example.com"\n');
  const run = (output: string, rules: string) => {
    box.write('rules.yaml', `rules:\n  - {when: ip.is_bogon, add: 60, reason: bogon}\n${rules}`);
    const flags = '--ip ip --email mail --endpoint embedded --score rules.yaml --report report.md';
    return runHere(box, `run in.csv -o ${output} ${flags}`);
  };
  await run('plain.csv', '');
  await run(
    'shadow.csv',
    `  - {when: ip.is_bogon, add: 30, reason: tried, shadow: true, description: To be seen, owner: risk team}
  - {when: email.is_valid, add: 30, reason: unread, shadow: true}
`,
  );
  expect(box.read('shadow.csv')).toBe(box.read('plain.csv'));
  const {risk} = box.summary('shadow.summary.json');
  const rule = {reason: 'tried', when: 'ip.is_bogon', add: 30, shadow: true};
  const about = {description: 'To be seen', owner: 'risk team'};
  expect(risk?.rules[1]).toEqual({...rule, ...about, held: 1, undecided: 0, wrong: 0});
  expect(risk).toMatchObject({levels: {medium: 30, high: 60}, default_rules: false});
  expect(box.read('report.md')).toMatch(/tried \(shadow: not added\).*\| 30 \| 1 \| To be seen \| risk team/);
});

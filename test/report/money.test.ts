import {expect, test} from 'vitest';
import {formatForecast} from '../../src/cli/terminal/opening.ts';
import {formatAmount, formatMoney} from '../../src/report/format.ts';
import type {Spend} from '../../src/report/run-record.ts';
import type {PlanReport} from '../../src/run/plan.ts';
import {startService} from '../e2e/service.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {whole} from '../support/whole.ts';

test.each([
  [655, 0.004, '2.62 EUR'],
  [1_000_000, 0.004, '4,000.00 EUR'],
  [0, 0.004, '0.00 EUR'],
  [3, 0.004, '0.012 EUR'],
])('%d credits at %d are %s', (credits, each, money) => {
  expect(formatMoney(credits, {per_credit: each, currency: 'EUR'})).toBe(money);
});

test('amounts keep no tails of binary fractions', () => {
  expect(formatAmount(0.1 + 0.2, 'USD')).toBe('0.30 USD');
});

test('where conditions may save calls, the forecast in money is the one of all calls', () => {
  const plan = whole<PlanReport>({
    credits: {at_least: 2, all_sent_once: 4, at_most: 12},
    lookups: {ip: {calls: 4, conditional: 2}},
    ...{time_ms: 2_000, rate_per_second: 2, price: {per_credit: 0.5, currency: 'EUR'}},
  });
  expect(formatForecast(plan, 'live')).toBe(
    '2 to 4 calls, 2 to 4 credits (12 at worst), 2.00 EUR (6.00 EUR at worst), about 2 s at 2/s',
  );
  expect(formatForecast(plan, 'embedded')).not.toContain('EUR');
});

test('with a price in the account, money stands beside credits wherever they are told', async () => {
  await using service = await startService();
  using box = createSandbox({'in.csv': 'ip\n203.0.113.1\n203.0.113.2\n203.0.113.3\n'});
  const here = (line: string) => runHere(box, line, service);
  const account = (name: string, text: string) =>
    box.write(`../home/config/bulk-enrich/accounts/${name}.yaml`, text);
  account('a', `endpoint: ${service.url}\nprice: 0.25 EUR\n`);
  expect((await here('plan in.csv --ip ip')).stdout).toContain(
    '3 credits (9 at worst), 0.75 EUR (2.25 EUR at worst)',
  );
  const {stderr} = await here('run in.csv --ip ip -o out.csv --report report.md');
  expect(stderr).toContain('3 credits (0.75 EUR) spent');
  expect(box.summary('out.summary.json').credits.account.price).toEqual({per_credit: 0.25, currency: 'EUR'});
  expect(box.read('report.md')).toContain('At 0.25 EUR a credit that is 0.75 EUR.');
  expect((await here('runs')).stdout).toMatch(/money[^\n]*\n[^\n]*0\.75 EUR/);
  const spend = JSON.parse((await here('spend --json')).stdout) as Spend;
  expect([spend.total.money, spend.groups[0]?.money]).toEqual([{EUR: 0.75}, {EUR: 0.75}]);
  expect((await here('spend')).stdout).toMatch(/money.*0\.75 EUR.*3 credits \(0\.75 EUR\) spent/s);
  // Of a run of several operations, each has its own part of the money.
  box.write('both.csv', 'ip,email\n203.0.113.4,a@example.com\n203.0.113.5,a@example.com\n');
  await here('run both.csv');
  const {groups} = JSON.parse((await here('spend --json --by operation')).stdout) as Spend;
  expect(groups.map(({name, money}) => [name, money])).toEqual([
    ['ip', {EUR: 1.25}],
    ['email', {EUR: 0.25}],
  ]);
  account('b', 'endpoint: embedded\nprice: 0.25 EUR\n');
  await here('run in.csv --ip ip -o free.csv --endpoint embedded');
  expect((await here('runs')).stdout).toMatch(/ free +– /);
  account('a', `endpoint: ${service.url}\nprice: 0.25\n`);
  const refused = await here('run in.csv --ip ip -o other.csv');
  expect(refused).toMatchObject({code: 2, errorCode: 'account_settings'});
});

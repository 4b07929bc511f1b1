import {expect, test} from 'vitest';
import {openStage} from '../support/stage.ts';

test('columns with values that are not looked up are in the summary and the report, with the flag that would', async () => {
  await using stage = await openStage();
  const rows = [1, 2, 3].map(n => `p${n}@example.com,030 2312500${n},DE,192.0.2.${n}`);
  stage.write('list.csv', ['mail,Rueckruf,land,server ip', ...rows, ''].join('\n'));
  const ended = await stage.run({score: 'none', report: stage.path('report.md')});
  const left = [
    {operation: 'ip', column: 'server ip', share: 1, flag: "--ip 'server ip'"},
    {operation: 'phone', column: 'Rueckruf', share: 1, flag: '--phone Rueckruf --country land'},
  ];
  const byOperation = (a: {operation: string}, b: {operation: string}) =>
    a.operation < b.operation ? -1 : 1;
  expect([...(ended.summary?.left_out ?? [])].sort(byOperation)).toEqual(left);
  for (const {column, flag} of left)
    expect(stage.read('report.md')).toMatch(new RegExp(`${column}.*${flag}`));
  const named = await stage.run({score: 'none', email: 'mail', force: true});
  expect(named.summary?.left_out.map(({column}) => column)).toContain('server ip');
});

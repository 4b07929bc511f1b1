import {expect, test} from 'vitest';
import {ips, openStage} from '../support/stage.ts';

test('lines above the header are skipped whole, in any letters', async () => {
  await using stage = await openStage({list: `Übersicht für März\n${ips(3)}`});
  const {code, summary} = await stage.run({ip: 'ip', skipLines: 1});
  expect([code, summary?.rows]).toEqual([0, expect.objectContaining({read: 3, written: 3})]);
  expect(stage.read('out.csv')).toMatch(/^ip,/);
});

test('--limit ends a list within a batch that is not the first', async () => {
  await using stage = await openStage({list: `ip\n${'192.0.2.1\n'.repeat(20_000)}`});
  const {summary} = await stage.run({ip: 'ip', limit: 7_001});
  expect(summary?.rows).toMatchObject({read: 7_001, written: 7_001});
});

test('a verdict’s phone number is read with its own country, beside another column of numbers', async () => {
  await using stage = await openStage();
  const row = ['s-1', '030 23125000', 'DE', '020 7946 0950', 'GB'];
  stage.write(
    'list.csv',
    `token,shipping_phone,shipping_country,billing_phone,billing_country\n${row.join()}\n`,
  );
  const sent: unknown[] = [];
  stage.api.setScript(({operation, body}) => {
    if (operation === 'verify') sent.push(body.phone_number);
    return undefined;
  });
  const {code} = await stage.run({
    phone: 'shipping_phone',
    country: ['shipping_country', 'billing_country'],
    verdict: {token: 'token', action: 'signup', phone: 'billing_phone'},
  });
  expect([code, sent]).toEqual([0, ['+442079460950']]);
});

test('a last line that is one value lacks fields as any other, and is not said to be a note below the list', async () => {
  await using stage = await openStage({list: 'ip,n\n192.0.2.1,1\n192.0.2.2,2\n192.0.2.3\n'});
  const {code, warnings} = await stage.run({ip: 'ip'});
  expect([code, warnings, stage.api.ledger.calls]).toEqual([3, [], 2]);
  stage.write('list.csv', 'ip,n\n192.0.2.1,1\n192.0.2.2,2\nend of list\n');
  const noted = await stage.run({ip: 'ip', force: true});
  expect([noted.code, noted.warnings, stage.api.ledger.calls]).toEqual([
    0,
    [expect.stringContaining('Row 3 seems to be a total or a note')],
    2,
  ]);
});

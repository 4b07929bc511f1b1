import {expect, test} from 'vitest';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {openStage} from '../support/stage.ts';

const DATA = {is_vpn: 'yes', postal_code: 94_043, asn_number: '15169', city: 'Testville', more: 1};
const KEPT = {is_vpn: 'yes', postal_code: '94043', asn_number: 15_169, city: 'Testville', more: 1};
const script = () => reply.json({success: true, data: DATA});
const WARNING =
  /^Fields of answers came with another type than the interface's: is_vpn \(2\)\. NDJSON output and the answer store keep them/;

test('fields of another type are converted, else kept in NDJSON and the store, and named at the end', async () => {
  await using stage = await openStage({list: 'ip\n192.0.2.1\n192.0.2.2\n192.0.2.1\n', script});
  const first = await stage.run({input: 'list.csv', output: 'out.ndjson', ip: 'ip'});
  expect(first.code).toBe(0);
  expect(first.warnings.filter(warning => WARNING.test(warning))).toHaveLength(1);
  expect(first.summary?.calls.wrong_types).toEqual({is_vpn: 2});
  const enriched = (name: string) =>
    stage
      .read(name)
      .trimEnd()
      .split('\n')
      .map(line => (JSON.parse(line) as {enrichment: {ip: {data: unknown}; risk: unknown}}).enrichment);
  for (const {ip, risk} of enriched('out.ndjson')) {
    expect(ip.data).toEqual(KEPT);
    // No rule takes "yes" for a flag, and no other field tells of the risk.
    expect(risk).toMatchObject({score: null, level: 'unknown', reasons: []});
  }

  await stage.run({input: 'list.csv', output: 'known.ndjson', ip: 'ip', offline: true});
  expect(enriched('known.ndjson')).toEqual(enriched('out.ndjson'));
  await stage.run({input: 'list.csv', output: 'some.ndjson', ip: 'ip', fields: 'is_vpn,postal_code'});
  expect(enriched('some.ndjson')[0]?.ip.data).toEqual({is_vpn: 'yes', postal_code: '94043'});
  await stage.run({input: 'list.csv', output: 'flat.ndjson', ip: 'ip', flatten: true});
  expect(JSON.parse(stage.read('flat.ndjson').split('\n')[0] ?? '')).toMatchObject({
    ip_is_vpn: 'yes',
    ip_postal_code: '94043',
  });
  await stage.run({input: 'list.csv', output: 'out.csv', ip: 'ip', fields: 'is_vpn,postal_code,asn_number'});
  expect(stage.read('out.csv').split('\n')[1]).toMatch(/^192\.0\.2\.1,ok,,,94043,15169,/);
  expect(stage.api.ledger.calls).toBe(2);
});

test('a value that is looked up by hand names fields of another type', async () => {
  await using stage = await openStage({script});
  using sandbox = createSandbox();
  const {code, stdout, stderr} = await runHere(sandbox, ['lookup', 'ip', '192.0.2.1'], {env: stage.env});
  expect([code, JSON.parse(stdout)]).toEqual([0, KEPT]);
  expect(stderr).toContain('Fields of the wrong type, as they came: is_vpn.');
});

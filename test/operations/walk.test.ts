import {readFileSync} from 'node:fs';
import {parse} from 'csv-parse/sync';
import {describe, expect, test} from 'vitest';
import {parse as parseYaml} from 'yaml';
import {type Client, createClient, type EnrichSettings, enrich, startService} from '../../src/index.ts';
import {describeSettings} from '../../src/job/settings.ts';
import {
  type Intelligence,
  intelligenceNames,
  type Operation,
  operationNames,
  operations,
} from '../../src/operations/table.ts';
import {fieldsOfOperation} from '../../src/output/result-columns.ts';
import {spellName} from '../../src/sentence.ts';
import {createSandbox, type Sandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';

/** Values that each operation can look up, and values that it can't. */
const values: Readonly<Record<Operation, Readonly<Record<'good' | 'odd' | 'code', string>>>> = {
  ip: {good: '8.8.8.8', odd: '8.8.8.0/24', code: 'ip_range'},
  phone: {good: '+12025550143', odd: '+1', code: 'phone_too_short'},
  email: {good: 'jo@example.com', odd: 'jo', code: 'email_malformed'},
  verify: {good: 'tok-1', odd: 'two words', code: 'token_malformed'},
};

/** Free, and takes any token. */
const ACTION = 't/FFFFFFFFFFFFF/111111111';
const env = {BULK_ENRICH_ACTION_ID: ACTION, CI: '1'};

async function command(sandbox: Sandbox, ...args: readonly string[]): Promise<string> {
  const {code, stdout, log} = await runHere(sandbox, args, {env});
  if (code !== 0 && code !== 3) throw new Error(`${args.join(' ')}: ${code}\n${log}`);
  return stdout;
}

describe.each(operationNames)('%s', name => {
  const {good, odd, code} = values[name];
  const {setting, prefix, about, title, cost, isRedeeming} = operations[name];

  test('flag → plan → call → columns → summary → reports → purge', async () => {
    expect(describeSettings().find(one => one.name === setting)?.description).toContain(about);
    using sandbox = createSandbox({'list.csv': `id,value\n1,${good}\n2,${odd}\n3,\n4,${good}\n`});
    const flags = ['list.csv', `--${setting}`, 'value', '--endpoint', 'embedded'];

    const plan = JSON.parse(await command(sandbox, 'plan', ...flags, '--json'));
    expect(plan.columns).toEqual([{operation: name, column: 'value', how: 'named'}]);
    const calls = isRedeeming ? 2 : 1;
    expect(plan.lookups[name]).toMatchObject({values: 4, empty: 1, invalid: 1, distinct: calls, calls});
    expect(plan.errors.map((error: {code: string}) => error.code)).toEqual([`${name}.${code}`]);
    expect(Object.keys(operations[name].codes)).toContain(code);

    await command(sandbox, 'run', ...flags, '-o', 'out.csv', '--report', 'out.html', '--metrics', 'out.prom');
    const rows = parse(sandbox.read('out.csv'), {columns: true}) as Record<string, string>[];
    expect(rows.map(row => row[`${prefix}status`])).toEqual(['ok', 'invalid', 'empty', 'ok']);
    expect(rows[1]?.[`${prefix}error`]).toBe(code);
    const added = ['status', 'error', ...fieldsOfOperation(name).map(field => field.name)];
    expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(added.map(field => prefix + field)));

    const summary = sandbox.summary('out.summary.json');
    expect(summary.lookups).toEqual({[name]: expect.objectContaining({answered: 2, invalid: 1, calls})});
    expect(summary.credits.by_operation).toEqual({[name]: {spent: isRedeeming ? 0 : cost, maybe_spent: 0}});
    expect(Object.keys(summary.fields[name] ?? {})).toEqual(fieldsOfOperation(name).map(field => field.name));
    expect(sandbox.read('out.html')).toContain(title);
    expect(sandbox.read('out.prom')).toContain(`operation="${name}"`);

    expect((await command(sandbox, 'store', 'stats')).includes(`${name} `)).toBe(true);
    if (isRedeeming) return;
    for (const said of ['1 answer removed', 'The store has nothing about that value'])
      expect(await command(sandbox, 'store', 'purge', good)).toContain(said);
  });

  test('rates, costs and ages can be its own', async () => {
    using sandbox = createSandbox({'list.csv': `value\n${good}\n`});
    const own = ['--rate', `${name}=7/s`, '--cost', `${name}=3`, '--max-age', `${name}=2d`];
    const flags = ['list.csv', `--${setting}`, 'value', '--endpoint', 'embedded', ...own, '--json'];
    const paid = {env: {...env, BULK_ENRICH_ACTION_ID: 'a/1'}};
    const plan = JSON.parse((await runHere(sandbox, ['plan', ...flags], paid)).stdout);
    expect(plan).toMatchObject({credits: {at_least: 3}, rate_per_second: 7});
  });

  test('its fields and its status are names of expressions', async () => {
    using sandbox = createSandbox({'list.csv': `value\n${good}\n`});
    const reads = fieldsOfOperation(name).map(({path}) => `has(${name}.${path.join('.')})`);
    const whens = [...reads, `status.${name} == "ok"`];
    const rules = whens.map((when, at) => ({when, add: 1, reason: `walked${at}`}));
    sandbox.write('rules.yaml', JSON.stringify({rules}));
    const flags = [`--${setting}`, 'value', '--endpoint', 'embedded', '--score', 'rules.yaml', '--json'];
    expect(JSON.parse(await command(sandbox, 'plan', 'list.csv', ...flags)).lookups[name].calls).toBe(1);
  });

  test('the library has its answer by name', async () => {
    const own = {endpoint: 'embedded', [setting]: 'value', store: false};
    const settings = own as EnrichSettings<{value: string}>;
    for await (const {enrichment} of enrich([{value: good}], settings, {env: {...process.env, ...env}}))
      expect(enrichment[name]).toMatchObject({status: 'ok', error: null});
  });
});

describe.each(intelligenceNames)('%s, which looks one value up', name => {
  const {good, odd} = values[name];

  test('init → job file → the same plan', async () => {
    using sandbox = createSandbox({'list.csv': `id,${name}\n${`7,${good}\n`.repeat(6)}`});
    await command(sandbox, 'init', 'list.csv');
    expect(parseYaml(sandbox.read('list.yaml'))).toMatchObject({[name]: name});
    const plan = JSON.parse(await command(sandbox, 'plan', '--job', 'list.yaml', '--json'));
    expect(plan.lookups[name]).toMatchObject({values: 6, distinct: 1});
  });

  test('lookup, and its help', async () => {
    using sandbox = createSandbox();
    const answer = JSON.parse(await command(sandbox, 'lookup', name, good, '--endpoint', 'embedded'));
    expect(Object.keys(answer).length).toBeGreaterThan(0);
    expect((await runHere(sandbox, ['lookup', name, odd], {env})).code).toBe(2);
    expect(await command(sandbox, 'lookup', '--help')).toContain(name);
  });

  test('the client, and what the service says of itself', async () => {
    const service = await startService();
    const at = {baseUrl: service.url, apiKey: service.apiKey};
    const client: Pick<Client, Intelligence | 'close'> = createClient(at);
    try {
      expect(Object.keys(await client[name](good)).length).toBeGreaterThan(0);
      expect(service.ledger().operations[name]).toMatchObject({calls: 1, credits: operations[name].cost});
      const described = JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text());
      expect(described.paths[operations[name].path].post.summary).toBe(operations[name].summary);
    } finally {
      client.close();
      await service.close();
    }
  });
});

test('the job schema and the page of settings have a setting for each', () => {
  const schema = readFileSync(new URL('../../jobs/job.schema.json', import.meta.url), 'utf8');
  const page = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8');
  for (const {setting, about} of Object.values(operations)) {
    expect(Object.keys(JSON.parse(schema).properties)).toContain(spellName(setting, '_'));
    expect(page).toContain(about);
  }
});

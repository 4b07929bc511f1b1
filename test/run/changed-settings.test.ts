import {cpSync, existsSync, readFileSync, rmSync} from 'node:fs';
import {dirname} from 'node:path';
import {afterAll, beforeAll, describe, expect, test} from 'vitest';
import type {RawSettings} from '../../src/job/parse.ts';
import {describeSettings, namesWithoutEffectOnResult, type SettingName} from '../../src/job/settings.ts';
import {NEVER_PASS_ACTION_ID} from '../../src/operations/verify.ts';
import {fieldsOfOperation} from '../../src/output/result-columns.ts';
import {Stopper} from '../../src/run/stop.ts';
import type {Call} from '../support/api-server.ts';
import {type Reply, reply} from '../support/api-server-reply.ts';
import {type Ended, interrupt, openStage, type Stage} from '../support/stage.ts';

const ROWS = 8;
const numbers = Array.from({length: ROWS}, (_, i) => i);
const pad = 'x'.repeat(1_100);

/** Every row holds something for each setting, so that a change of it shows. */
const lists = {
  'list.csv': [
    'ip,ip2,tel,mail,land,other,token,note,both,seen',
    ...numbers.flatMap(i => [
      `203.0.113.${i},198.51.100.${i},${i % 2 ? '+1' : ''}20255501${10 + i},a${i}@example.com,US,GB,token${i},=1+1 é ${pad},203.0.113.${i} 198.51.100.${i},192.0.2.${i}`,
      ...(i % 7 === 6 ? ['1.2.3.4,too,few'] : []),
    ]),
  ],
  'list.ndjson': numbers.map(i => `{"ip":"203.0.113.${i}","user":{"name":"n${i}"}}`),
  // One column, whatever its format and delimiter are taken to be.
  'narrow.csv': ['ip', ...numbers.map(i => `203.0.113.${i}${['', '', '', ',x', ';x'][i % 5]}`)],
};

/** Runs that are half done, and resumed after a change. */
const bases = {
  ip: {ip: 'ip'},
  phone: {phone: 'tel', country: 'land'},
  national: {phone: 'tel', defaultCountry: 'US'},
  listed: {ip: 'both', fromList: 'first'},
  token: {verdict: {token: 'token', action: 'action', id: 'note'}},
  guessed: {input: 'narrow.csv'},
  ndjson: {input: 'list.ndjson', output: 'out.ndjson', ip: 'ip'},
  toCsv: {input: 'narrow.csv', ip: 'ip', outputFormat: 'csv'},
  toTsv: {input: 'narrow.csv', output: 'out.tsv', ip: 'ip'},
  known: {ip: 'seen'},
} as const satisfies Record<string, RawSettings>;
type BaseName = keyof typeof bases;

/** A path or address that only the stage knows. */
type Value = unknown | ((stage: Stage) => unknown);

/** For each setting, what it is changed to, and in which runs. */
const changes: Readonly<Record<SettingName, readonly (readonly [BaseName, Value])[]>> = {
  endpoint: [
    ['ip', 'embedded'],
    ['ip', (stage: Stage) => stage.api.url],
  ],
  ip: [
    ['ip', 'ip2'],
    ['ip', 'ip=other_'],
    ['ip', ['ip', 'ip2']],
    ['ip', {column: 'ip', when: 'row.land == "GB"'}],
    ['guessed', 'ip'],
    ['ndjson', 'user.name'],
  ],
  phone: [['ip', 'tel']],
  email: [['ip', 'mail']],
  verdict: [
    ['ip', 'token=token,action=action'],
    ['token', 'token=note,action=action,id=note'],
    ['token', `token=token,action=${NEVER_PASS_ACTION_ID},id=note`],
    ['token', 'token=token,action=action,id=mail'],
    ['token', 'token=token,action=action,id=note,email=mail'],
    ['token', 'token=token,action=action,id=note,phone=tel'],
  ],
  country: [
    ['phone', 'other'],
    ['national', 'other'],
  ],
  defaultCountry: [['national', 'GB']],
  fields: [
    ['ip', 'ip.country'],
    ['ndjson', fieldsOfOperation('ip').map(({name}) => name)],
  ],
  fromList: [['listed', 'only']],
  ipFromList: [['listed', 'only']],
  empty: [['ip', '203.0.113.7']],
  header: [
    ['ip', false],
    ['toCsv', false],
  ],
  where: [['ip', 'row.land == "GB"']],
  limit: [['ip', ROWS - 2]],
  inputFormat: [['toCsv', 'tsv']],
  outputFormat: [
    ['ip', 'tsv'],
    ['ip', 'csv-bom'],
    ['ndjson', 'csv'],
  ],
  flatten: [
    ['ndjson', true],
    ['ip', true],
  ],
  delimiter: [
    ['toTsv', ';'],
    ['ip', ','],
  ],
  encoding: [['ip', 'windows-1252']],
  skipLines: [['ip', 1]],
  padShortRows: [['ip', true]],
  escapeFormulas: [
    ['ip', 'all'],
    ['ip', 'none'],
  ],
  rate: [['ip', '1000/s']],
  concurrency: [['ip', 1]],
  timeout: [['ip', '10s']],
  resends: [['ip', 0]],
  maxOutage: [['ip', '1m']],
  fleet: [['ip', 'none']],
  cost: [
    ['ip', 2],
    ['ip', {rejected: 'free'}],
  ],
  maxCredits: [['ip', 10 * ROWS]],
  publishOn: [['ip', 'budget,outage,deadline']],
  until: [
    ['ip', '00:00'],
    ['ip', '1h'],
  ],
  maxErrors: [['ip', '50%']],
  maxRejects: [['ip', '50%']],
  failIf: [['ip', 'rows.read < 0']],
  store: [
    ['ip', false],
    ['ip', (stage: Stage) => stage.path('cache')],
  ],
  maxAge: [['known', '0s']],
  stale: [['ip', '1d']],
  offline: [['ip', true]],
  account: [['ip', 'other']],
  requireStore: [['ip', true]],
  state: [['ip', (stage: Stage) => stage.path('elsewhere')]],
  date: [['ip', '2026-01-31']],
  restart: [['ip', true]],
  force: [['ip', true]],
  score: [
    ['ip', 'none'],
    ['ip', {rules: [{when: 'ip.country == "US"', add: 7, reason: 'us'}]}],
  ],
  summary: [['ip', (stage: Stage) => stage.path('other.json')]],
  rejects: [['ip', (stage: Stage) => stage.path('other.ndjson')]],
  report: [['ip', (stage: Stage) => stage.path('report.html')]],
  metrics: [['ip', (stage: Stage) => stage.path('metrics.prom')]],
  pingUrl: [['ip', (stage: Stage) => `${stage.api.url}/ping`]],
  drift: [['ip', 'fail 10%']],
  log: [['ip', 'json,error']],
  quiet: [['ip', true]],
};

/** Always the same answers, which show what was sent. */
const answers = ({operation, value, body}: Call): Reply | undefined => {
  switch (operation) {
    case 'ip':
      return reply.json({success: true, data: {country: 'US', isp: '=Example', novel: value}});
    case 'verify':
      return reply.json({
        success: true,
        ...(body.id !== undefined && {user_id: body.id}),
        verdict: {can_pass: body.action_id !== NEVER_PASS_ACTION_ID, redeemed: false},
        device: {fingerprint: `${body.email} ${body.phone_number}`},
      });
    default:
      return undefined;
  }
};

let stage: Stage;
/** The stage's folders, beside which copies are kept under a name. */
const folders = () => [stage.directory, dirname(stage.env.XDG_CACHE_HOME ?? '')];
function keep(name: string): void {
  for (const folder of folders()) cpSync(folder, `${folder}-${name}`, {recursive: true});
}
function restore(name: string): void {
  for (const folder of folders()) {
    rmSync(folder, {recursive: true});
    cpSync(`${folder}-${name}`, folder, {recursive: true});
  }
}

interface Written {
  readonly code: number;
  /** Output and rejects; undefined where there is no output. */
  readonly bytes: string | undefined;
}

function writtenBy({code}: Ended, {output = 'out.csv', rejects}: RawSettings): Written {
  const path = stage.path(String(output));
  const read = (file: string) => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  const beside = path.replace(/\.\w+$/, '.rejects.ndjson');
  const bytes = `${read(path)}\n${read(String(rejects ?? beside))}`;
  return {code, bytes: existsSync(path) ? bytes : undefined};
}

async function uninterrupted(settings: RawSettings): Promise<Written & {readonly calls: number}> {
  restore('new');
  const before = stage.api.ledger.calls;
  const written = writtenBy(await stage.run(settings), settings);
  return {...written, calls: stage.api.ledger.calls - before};
}

/** Result of each base without a change. */
const wholes = new Map<BaseName, Awaited<ReturnType<typeof uninterrupted>>>();

/** Keeps the base's half under its name. */
async function prepare(base: BaseName): Promise<void> {
  const whole = await uninterrupted(bases[base]);
  wholes.set(base, whole);
  restore('new');
  const half = stage.api.ledger.calls + Math.ceil(whole.calls / 2);
  const stopper = new Stopper();
  stage.api.setScript(call => {
    if (call.call === half) interrupt(stopper);
    return answers(call);
  });
  const ended = await stage.run({concurrency: 4, ...bases[base]}, {stopper});
  stage.api.setScript(answers);
  expect(ended).toMatchObject({code: 130, summary: {status: 'interrupted'}});
  keep(base);
}

beforeAll(async () => {
  stage = await openStage();
  for (const [name, lines] of Object.entries(lists)) stage.write(name, `${lines.join('\n')}\n`);
  // The store knows every other value of a column, by an answer that no longer comes.
  stage.write('seen.csv', `seen\n${numbers.map(i => `192.0.2.${2 * i}`).join('\n')}\n`);
  stage.api.setScript(() => reply.json({success: true, data: {country: 'DE', isp: 'Former'}}));
  expect((await stage.run({...bases.known, input: 'seen.csv', output: 'seen.out.csv'})).code).toBe(0);
  stage.api.setScript(answers);
  keep('new');
  for (const base of Object.keys(bases) as BaseName[]) await prepare(base);
});
afterAll(() => stage[Symbol.asyncDispose]());

// Without calls there are only the answers that are known: see below.
const named = describeSettings().filter(({name}) => name !== 'offline');

describe.each(named)('$name changed on a half-done run', ({name}) => {
  test.each(changes[name])('%s → %j: as a run with that setting from the start', async (base, to) => {
    const settings: RawSettings = {...bases[base], [name]: typeof to === 'function' ? to(stage) : to};
    // A setting that changes no result leaves that of the base.
    const known = namesWithoutEffectOnResult.includes(name) ? wholes.get(base) : undefined;
    const {calls, ...fromTheStart} = known ?? (await uninterrupted(settings));
    restore(base);
    const before = stage.api.ledger.calls;
    const first = await stage.run(settings);
    // What the half-done run knows is of another place: it takes a word to give that up.
    const isOther = name === 'account' || to === 'embedded';
    expect(first.errorCode === 'state_of_other').toBe(isOther);
    const ended = isOther ? await stage.run({...settings, restart: true}) : first;
    expect(writtenBy(ended, settings)).toEqual(fromTheStart);
    expect(stage.api.ledger.calls - before).toBeLessThanOrEqual(calls);
  });
});

test('a half-done run that makes no calls from now on has the answers that it bought', async () => {
  restore('ip');
  const {calls} = stage.api.ledger;
  const ended = await stage.run({...bases.ip, offline: true});
  expect(ended.code).toBe(3);
  expect(ended.summary?.lookups.ip?.answered).toBeGreaterThan(ROWS / 4);
  expect(stage.api.ledger.calls).toBe(calls);
});

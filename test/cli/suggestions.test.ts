import {execFileSync} from 'node:child_process';
import {rmSync} from 'node:fs';
import iconv from 'iconv-lite';
import {beforeAll, expect, test} from 'vitest';
import codes from '../../src/codes.json' with {type: 'json'};
import type {CodeText} from '../../src/operations/operation.ts';
import {startService} from '../e2e/service.ts';
import {type CommandOutcome, createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {opened} from '../support/opened.ts';

const service = opened(startService, beforeAll);
const sandbox = opened(createSandbox, beforeAll);

const LIST = 'ip,note\n192.0.2.1,a\n192.0.2.2,b\n192.0.2.3,c\n';
const TRY = /^Try: (.*)$/m;

/** A message that suggests a command; the command is run as it was printed. */
interface Suggestion {
  /** The list, where it is not the list; the command is given its path for `LIST`. */
  readonly text?: string | Uint8Array;
  /** By default, `run LIST`. */
  readonly line?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Matches the command in the message. */
  readonly where?: RegExp;
  /** The output of the suggested command, by default of the list's run, and its exit code. */
  readonly says?: RegExp;
  readonly code?: number;
  /** A newer Node has nothing to suggest. */
  readonly mayWork?: true;
  /** The first command did its work, and says what comes next. */
  readonly works?: true;
}

const suggestions = Object.entries<Suggestion>({
  title: {text: `Export of May\n\n${LIST}`, line: 'init LIST', says: /title\.yaml/},
  compression: {line: 'run LIST -o out.csv.zst', says: /written to out\.csv\.gz/, mayWork: true},
  national: {
    text: `ip,Telefon\n${'192.0.2.1,030 23125 001\n'.repeat(9)}`,
    where: /^Try: (bulk-enrich run national\.csv --default-country COUNTRY)$/m,
    says: /up ip, Telefon \(phone, country DE\), at most.*9 rows written/s,
  },
  'national, with countries beside them': {
    text: `E-mail,Business Phone,Mobile Phone,Business Office\n${'jo@example.com,030 23125 001,,Germany\njo@example.com,01 5340100,,Austria\n'.repeat(5)}`,
    where: /^Try: (.* --country 'Business Office')$/m,
    says: /"Business Phone" and "Mobile Phone" \(phone, country from "Business Office"\).*10 rows written/s,
  },
  'national, of another country': {
    text: `ip,Telefon,country\n${'192.0.2.1,030 23125 001,US\n'.repeat(9)}`,
    where: /^Try: (.* --phone Telefon --default-country COUNTRY)$/m,
    says: /Telefon \(phone, country DE\), at most.*9 rows written/s,
  },
  'addresses in one cell': {text: `ip\n${'"192.0.2.1, 192.0.2.2"\n'.repeat(9)}`, says: /9 rows written/},
  'unsure column': {
    text: `ip,mail\n${'maybe,jo@example.com\n'.repeat(9)}192.0.2.1,jo@example.com\n`,
    line: 'plan LIST --max-rejects 100%',
    says: /ip +"ip" +named/,
  },
  'a word of their own for no value': {
    text: `ip,name\n${'no address,x\n'.repeat(19)}192.0.2.1,x\n`,
    line: 'run LIST --max-rejects 100%',
    where: /^Try: (.* --empty 'no address')$/m,
    says: /20 rows written/,
  },
  'column of no known name': {text: `nr,land\n${'030 23125 001,DE\n'.repeat(9)}`, says: /9 rows written/},
  'several countries': {
    text: `phone,billing_country,shipping_country\n${'030 23125 001,DE,DE\n'.repeat(9)}0664 1234567,DE,AT\n`,
    says: /10 rows written/,
  },
  'rows of another encoding': {
    text: iconv.encode(`name,email\n${'田中太郎,jo@example.com\n'.repeat(9)}`, 'shift_jis'),
    says: /9 rows written/,
  },
  'names with =': {
    text: `agent=ip,agent ip\n${'192.0.2.1,192.0.2.2\n'.repeat(9)}`,
    line: 'plan LIST',
    says: /ip +"agent=ip" +named\n +ip +"agent ip" +named/,
  },
  'a name with = beside one that clashes': {
    text: `ip,ip_is_vpn,login=ip\n${[1, 2, 3, 4, 5, 6, 7, 8, 9].map(n => `192.0.2.${n},no,192.0.3.${n}\n`).join('')}`,
    says: /up ip and "login=ip" \(IP\).*9 rows written/s,
  },
  ...Object.fromEntries(
    [
      ['a line break', 'ip\nagent\n'],
      ['an escape sequence', '\u001b[31mip\u001b[0m agent\u202e'],
      ['a quote, a backslash and a bell', "agent's \\ ip\u0007"],
      ['a command to a CI runner', 'agent ##[error] ip'],
    ].map(([what, name]): [string, Suggestion] => [
      `a name with ${what}`,
      {text: `"${name}"\n${'192.0.2.1\n'.repeat(9)}`, line: 'plan LIST', says: / ip +".*" +named\n/},
    ]),
  ),
  'versions, which only a plan may look up': {
    text: `user,build\n${'jo,4.12.0.1\nal,4.12.0.2\n'.repeat(4)}`,
    line: 'run LIST --yes',
    where: /^Try: (bulk-enrich plan .*)$/m,
    says: /ip +"build" +named/,
  },
  'no header': {
    text: '0171 3920000\n0171 3920001\n',
    line: 'run LIST --default-country DE',
    says: /2 rows written/,
  },
  'no service': {env: {}},
  'a list without a command': {line: 'list.csv', where: /(bulk-enrich run list\.csv)/},
  'no such command': {line: 'xyzzy', where: /(bulk-enrich --help)/, says: /^Usage: bulk-enrich/},
  'no such summary': {
    line: 'runs 00000000',
    where: /(bulk-enrich runs)/,
    says: /^run +ended|^No run has ended/,
  },
  'a command of its own': {
    line: 'lookup verify x',
    where: /\((bulk-enrich verify)/,
    code: 2,
    says: /required option '--token/,
  },
  'rows of high risk': {
    text: 'ip,email\n192.0.2.1,jo\n',
    line: 'run LIST --ip ip --email email --endpoint embedded --report r.md',
    where: /^To list the 1 row of high risk: (.*)$/m,
    says: /^ +1 +80 +ip_bogon, email_invalid$/m,
    works: true,
  },
  'a plan': {line: 'plan LIST', where: /^To run it: (.*)$/m, works: true},
  'more than its limit': {
    line: 'run LIST -o limited.csv --no-store --max-credits 2',
    where: /^To continue: (.*)$/m,
  },
});

/** Runs a command line as a shell would take its words. */
function follow(command: string, env: Readonly<Record<string, string>>): Promise<CommandOutcome> {
  // The user's own knowledge of a list.
  const filled = command.replace('COUNTRY', 'DE');
  const words = filled.includes("$'")
    ? execFileSync('bash', ['-c', `printf '%s\\0' ${filled}`], {encoding: 'utf8'})
        .split('\0')
        .slice(0, -1)
    : [...filled.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
  expect(words[0], command).toBe('bulk-enrich');
  return runHere(sandbox, words.slice(1), {env});
}

/** The list, as if nothing was made of it yet. */
function writeFreshList(): void {
  for (const left of sandbox.files().filter(file => file.startsWith('list.enriched')))
    rmSync(sandbox.path(left), {recursive: true, force: true});
  sandbox.write('list.csv', LIST);
}

test.each(suggestions)('%s: the suggested command works as it is printed', async (name, one) => {
  const {text = LIST, line = 'run LIST', env = service.env, where = TRY, code = 0, works = false} = one;
  writeFreshList();
  const list = `${name.replace(/\W/g, '-')}.csv`;
  sandbox.write(list, text);
  const first = await runHere(sandbox, line.replace('LIST', list), {env});
  const mayWork = one.mayWork === true && first.code === 0;
  expect(first.code === 0, first.stderr).toBe(works || mayWork);
  if (mayWork) return;
  const [, command = ''] = where.exec(first.stderr + first.stdout) ?? [];
  const again = await follow(command, env);
  expect([command, again.code, again.stderr]).toEqual([command, code, again.stderr]);
  expect(again.stdout + again.stderr).toMatch(one.says ?? /3 rows written/);
});

const commandsIn = (text: string) =>
  [...text.matchAll(/bulk-enrich [^\n;#]*/g)].map(([command]) => command.split(/ {2}/)[0] ?? '');

test('welcome: each command it names', async () => {
  writeFreshList();
  const {stdout} = await runHere(sandbox, [], {env: service.env});
  const commands = commandsIn(stdout)
    .map(command => command.replace(/: .*/, ''))
    .filter(command => !command.includes(' enriches '));
  expect(commands.length).toBeGreaterThan(6);
  for (const command of commands) {
    // It serves until it is told to end.
    const ending = command.endsWith(' serve') ? `${command} --help` : command;
    const {code, stderr} = await follow(ending, service.env);
    expect([command, code, code === 0 ? '' : stderr]).toEqual([command, 0, '']);
  }
});

test('init: the commands in the job file, and the line for cron as cron would run it', async () => {
  sandbox.write('nightly list.csv', LIST);
  const {stdout} = await runHere(sandbox, ['init', 'nightly list.csv'], {env: {}});
  const job = sandbox.read('nightly-list.yaml');
  const [line = ''] = /cd .*$/m.exec(job) ?? [];
  const inJob = commandsIn(job.replaceAll(line, '')).map(command => command.split(',')[0] ?? '');
  const commands = [...commandsIn(stdout), ...inJob];
  const [plan, run] = ['plan', 'run'].map(name => `bulk-enrich ${name} --job nightly-list.yaml`);
  expect(commands).toEqual([plan, plan, run, 'bulk-enrich run --help-all']);
  for (const command of commands) expect([command, (await follow(command, {})).code]).toEqual([command, 0]);
  // In place of the command is what tells its words.
  const teller = sandbox.write('teller.cjs', 'console.log(process.cwd(), ...process.argv.slice(2))');
  const installed = line.replace(/'[^']+\/cli\/bin\.js'|\S+\/cli\/bin\.js/, teller);
  const said = execFileSync('/bin/sh', ['-c', installed], {cwd: '/', env: {PATH: '/usr/bin:/bin'}});
  const [directory, ...words] = String(said).trim().split(' ');
  expect([directory, (await runHere(sandbox, words)).code]).toEqual([sandbox.directory, 0]);
  expect(sandbox.files()).toContain('nightly-list.html');
});

test('doctor, where the service is not there or a call failed', async () => {
  const env = {...service.env, BULK_ENRICH_BASE_URL: 'http://127.0.0.1:9'};
  sandbox.write('list.csv', LIST);
  const {stderr} = await runHere(sandbox, 'run list.csv -o never.csv --max-outage 1s --rate 9/s', {env});
  const [command = ''] = /bulk-enrich doctor/.exec(stderr) ?? [];
  expect((await follow(command, env)).stdout).toMatch(/^connection +FAILED/m);
  const advice = Object.values<CodeText>(codes.calls).map(
    ({advice = ''}) => /bulk-enrich \w+/.exec(advice)?.[0],
  );
  expect(new Set(advice.filter(found => found !== undefined))).toEqual(new Set([command]));
});

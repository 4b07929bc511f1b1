import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {Command} from 'commander';
import Database from 'libsql';
import {expect, test} from 'vitest';
import {addCommands} from '../../src/cli/declared-commands.ts';
import {exitCodes} from '../../src/errors.ts';
import {PROTOCOL_VERSION} from '../../src/fleet/protocol.ts';
import * as library from '../../src/index.ts';
import {logEvents} from '../../src/job/log-events.ts';
import {operationNames, operations} from '../../src/operations/table.ts';
import {
  fieldsOfOperation,
  listStatusColumns,
  REPAIRS_COLUMN,
  riskColumns,
} from '../../src/output/result-columns.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {ips} from '../support/stage.ts';

/** One thing that other programs may rely on: where, and what. One that goes is a promise that is broken. */
type Fact = readonly [place: string, what: string];

const root = new URL('../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');

type Json = Readonly<Record<string, unknown>>;

/** Every flag and argument of each command, and if a flag takes a value. */
async function commandFacts(): Promise<Fact[]> {
  const program = new Command('bulk-enrich');
  await addCommands(program, () => async () => {}, ['node', 'bulk-enrich', 'completion'], true);
  return program.commands.flatMap(command => factsOfCommand(command, ''));
}

function factsOfCommand(command: Command, parent: string): Fact[] {
  const name = `${parent}${command.name()}`;
  return [
    ['command', name],
    ...command.registeredArguments.map((argument): Fact => {
      const manner = `${argument.required ? '' : ' (optional)'}${argument.variadic ? ' (several)' : ''}`;
      return [`argument ${name}`, `${argument.name()}${manner}`];
    }),
    ...command.options.flatMap(({long, short, required, optional, argChoices = [], mandatory}): Fact[] => {
      const manner = `${required ? ' VALUE' : optional ? ' [VALUE]' : ''}${mandatory ? ' (required)' : ''}`;
      const choices = argChoices.map((choice): Fact => [`flag ${name} ${long}`, choice]);
      return [[`flag ${name}`, [short, long].filter(Boolean).join(' ') + manner], ...choices];
    }),
    ...command.commands.flatMap(one => factsOfCommand(one, `${name} `)),
  ];
}

/** A schema: the type of each place, its choices, and with `!` what must be there. */
function schemaFacts(what: string, name: string): Fact[] {
  return factsOfSchema(JSON.parse(read(name)) as Json, `${what} `, '');
}

function factsOfSchema(schema: Json, parent: string, name: string): Fact[] {
  const {type, properties = {}, items, additionalProperties, anyOf = [], required = []} = schema;
  const {enum: choices = [], const: only, default: byDefault} = schema;
  const path = `${parent}${name}`;
  const values = [...(choices as unknown[]), ...(only === undefined ? [] : [only])];
  const inside = (one: unknown, part: string) =>
    typeof one === 'object' ? factsOfSchema(one as Json, path, part) : [];
  return [
    ...(type === undefined ? [] : [[parent, `${name} ${String(type).replaceAll(',', '|')}`] as const]),
    ...values.map(value => [path, JSON.stringify(value)] as const),
    ...(byDefault === undefined ? [] : [[path, `by default ${JSON.stringify(byDefault)}`] as const]),
    ...(required as string[]).map(one => [path, `.${one}!`] as const),
    ...Object.entries(properties as Json).flatMap(([one, schema]) => inside(schema, `.${one}`)),
    ...inside(items, '[]'),
    ...inside(additionalProperties, '.*'),
    ...(anyOf as Json[]).flatMap(one => factsOfSchema(one, parent, name)),
  ];
}

/** Every column that an output may have, as a target without a prefix of its own names it. */
function columnFacts(): Fact[] {
  const answers = operationNames.flatMap(operation =>
    [...listStatusColumns(true), ...fieldsOfOperation(operation)].map(
      ({name, kind}): Fact => [`column ${operations[operation].prefix}`, `${name} ${kind}`],
    ),
  );
  return [...answers, ...riskColumns.map((name): Fact => ['column risk_', name]), ['column', REPAIRS_COLUMN]];
}

/** Values and types that a program imports. */
function libraryFacts(): Fact[] {
  const types = [...read('src/index.ts').matchAll(/export (?:type )?\{([^}]+)\}/g)].flatMap(
    ([, names = '']) => names.split(',').map(name => name.replace(/\btype\b/, '').trim()),
  );
  const settings = [
    ...read('src/library/job-input.ts').matchAll(/^ {2}(?:\/\*\*.*\*\/ )?readonly (\w+)\??:/gm),
  ];
  return [
    ...Object.keys(library).map((name): Fact => ['library (values)', name]),
    ...types.filter(Boolean).map((name): Fact => ['library', name]),
    ...settings.map(([, name = '']): Fact => ['library JobInput', name]),
  ];
}

/** Codes, events, metrics and variables that other programs use. */
function wordFacts(): Fact[] {
  const errors = [...read('docs/errors.md').matchAll(/^- `(\w+)` \(([\d, ]+)\):/gm)];
  const metrics = read('docs/reports.md').match(/(?<=`)bulk_enrich_\w+(?=`)/g) ?? [];
  const sources = readdirSync(new URL('src/', root), {recursive: true, encoding: 'utf8'}).filter(name =>
    name.endsWith('.ts'),
  );
  const variables = sources.flatMap(name => read(`src/${name}`).match(/\bBULK_ENRICH_[A-Z_]+[A-Z]\b/g) ?? []);
  return [
    ...Object.entries(exitCodes).map(([name, code]): Fact => ['exit', `${code} ${name}`]),
    ...errors.map(([, code = '', exits]): Fact => [`code exits ${exits}`, code]),
    ...Object.entries(logEvents).map(([name, {level}]): Fact => [`event ${level}`, name]),
    ...metrics.map((name): Fact => ['metric', name]),
    ...variables.map((name): Fact => ['variable', name]),
  ];
}

/** Versions of the files on disk and of the fleet's protocol. */
function versionFacts(directory: string): Fact[] {
  const files = readdirSync(directory, {recursive: true, encoding: 'utf8'}).filter(name =>
    name.endsWith('.db'),
  );
  const versions = files.flatMap(name => {
    const db = new Database(join(directory, name), {readonly: true});
    const [{user_version: version} = {user_version: 0}] = db.pragma('user_version') as {
      user_version: number;
    }[];
    db.close();
    // A lock has no content.
    return version === 0 ? [] : [['disk', `${name.split('/').at(-1)} ${version}`] as const];
  });
  return [...versions, ['fleet', `protocol ${PROTOCOL_VERSION}`]];
}

const path = fileURLToPath(new URL('contract.txt', import.meta.url));

/** The files of a run that stopped at its limit, beside those that all runs share. */
async function factsOnDisk(): Promise<Fact[]> {
  using sandbox = createSandbox();
  const account = 'endpoint: embedded\nmax_credits_per_day: 1000\nrate: 100/s\n';
  sandbox.write('../home/config/bulk-enrich/accounts/a.yaml', account);
  sandbox.write('list.csv', ips(5));
  const job = 'name: nightly\ninput: list.csv\nendpoint: embedded\nip: ip\n';
  sandbox.write('job.yaml', job);
  const stopped = await runHere(sandbox, ['run', '--job', 'job.yaml', '--max-credits', '3']);
  expect(stopped, stopped.stderr).toMatchObject({code: 7});
  return versionFacts(dirname(sandbox.directory));
}

const outputs = 'summary plan lookup runs spend diff explain doctor store-stats fleet-status';

/** A line for each place, with all that is there. */
async function contract(): Promise<string> {
  const facts = [
    ...(await commandFacts()),
    ...schemaFacts('job', 'jobs/job.schema.json'),
    ...['account', ...outputs.split(' ')].flatMap(name => schemaFacts(name, `docs/${name}.schema.json`)),
    ...columnFacts(),
    ...wordFacts(),
    ...libraryFacts(),
    ...(await factsOnDisk()),
  ];
  const places = new Map<string, Set<string>>();
  for (const [where, what] of facts) {
    const place = where.trim();
    places.set(place, (places.get(place) ?? new Set()).add(what.trim()));
  }
  const lines = [...places].map(([place, all]) => `${place}: ${[...all].sort().join(', ')}\n`);
  return lines.sort().join('');
}

/** Each fact with its place. */
function factsOf(text: string): string[] {
  return [...text.matchAll(/^(.*?): (.*)$/gm)].flatMap(([, place, all = '']) =>
    all.split(', ').map(what => `${place}: ${what}`),
  );
}

test('the contract is that of the last release, or has more: nothing is gone, and nothing is another (UPDATE=1 records it)', async () => {
  const text = await contract();
  if (process.env.UPDATE === '1') writeFileSync(path, text);
  const present = factsOf(text);
  const recorded = factsOf(readFileSync(path, 'utf8'));
  const kept = new Set(present);
  expect(recorded.filter(fact => !kept.has(fact))).toEqual([]);
  expect(recorded.length).toBeGreaterThan(1_000);
  // A new demand on job and account files would refuse files that exist already. A version rises only if it reads what
  // the released one before left.
  const fixed = (fact: string) => /^(job|account)\b.*!$|^(disk|fleet): /.test(fact);
  expect(present.filter(fixed)).toEqual(recorded.filter(fixed));
});

test('docs/stability.md has a line for each part of the contract, and no other', async () => {
  const page = readFileSync(new URL('../../docs/stability.md', import.meta.url), 'utf8');
  const parts = new Set(readFileSync(path, 'utf8').match(/^[\w-]+/gm));
  const told = [...page.matchAll(/<!-- ([\w -]+) -->/g)].flatMap(([, words = '']) => words.split(' '));
  expect(told.sort()).toEqual([...parts].sort());
});

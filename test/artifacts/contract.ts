import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {Command} from 'commander';
import Database from 'libsql';
import {addCommands} from '../../src/cli/declared-commands.ts';
import {exitCodes} from '../../src/errors.ts';
import {PROTOCOL_VERSION} from '../../src/fleet/protocol.ts';
import * as library from '../../src/index.ts';
import {logEvents} from '../../src/job/log-events.ts';
import {operationNames, operations} from '../../src/operations/table.ts';
import {fieldsOfOperation, listStatusColumns, REPAIRS_COLUMN, riskColumns} from '../../src/output/columns.ts';

/** One thing that other programs may rely on: where, and what. One that goes is a promise that is broken. */
export type Fact = readonly [place: string, what: string];

const root = new URL('../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');

type Json = Readonly<Record<string, unknown>>;

/** Every flag and argument of each command, and if a flag takes a value. */
export async function commandFacts(): Promise<Fact[]> {
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
    ...command.options.flatMap(({long, short, required, optional, argChoices = [], mandatory}): Fact[] => [
      [
        `flag ${name}`,
        `${[short, long].filter(Boolean).join(' ')}${required ? ' VALUE' : optional ? ' [VALUE]' : ''}${mandatory ? ' (required)' : ''}`,
      ],
      ...argChoices.map((choice): Fact => [`flag ${name} ${long}`, choice]),
    ]),
    ...command.commands.flatMap(one => factsOfCommand(one, `${name} `)),
  ];
}

/** A schema: the type of each place, its choices, and with `!` what must be there. */
export function schemaFacts(what: string, name: string): Fact[] {
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
export function columnFacts(): Fact[] {
  const answers = operationNames.flatMap(operation =>
    [...listStatusColumns(true), ...fieldsOfOperation(operation)].map(
      ({name, kind}): Fact => [`column ${operations[operation].prefix}`, `${name} ${kind}`],
    ),
  );
  return [...answers, ...riskColumns.map((name): Fact => ['column risk_', name]), ['column', REPAIRS_COLUMN]];
}

/** Values and types that a program imports. */
export function libraryFacts(): Fact[] {
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
export function wordFacts(): Fact[] {
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
export function versionFacts(directory: string): Fact[] {
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

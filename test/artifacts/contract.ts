import {readdirSync, readFileSync} from 'node:fs';
import {join} from 'node:path';
import {Command} from 'commander';
import Database from 'libsql';
import {addCommands} from '../../src/cli/declared-commands.ts';
import {addSettings, flagTexts} from '../../src/cli/flags.ts';
import {exitCodes} from '../../src/errors.ts';
import {PROTOCOL_VERSION} from '../../src/fleet/protocol.ts';
import * as library from '../../src/index.ts';
import {logEvents} from '../../src/job/monitoring/log-events.ts';
import {operationNames, operations} from '../../src/operations/table.ts';
import {fieldsOf, REPAIRS, riskColumns, statusColumns} from '../../src/output/columns.ts';

/**
 * The contract as lines, each of which says one thing that other programs may rely on. A line that goes is a promise that
 * is broken; a new one is a promise more.
 */

const root = new URL('../../', import.meta.url);
const read = (name: string) => readFileSync(new URL(name, root), 'utf8');

type Json = Readonly<Record<string, unknown>>;

/** Every flag and argument of each command, and if a flag takes a value. */
export function commandLines(): string[] {
  const program = new Command('bulk-enrich');
  addCommands(program, () => async () => {}, {
    withSettings: (command, use) => addSettings(command, use, true),
    said: flagTexts,
  });
  return program.commands.flatMap(command => linesOfCommand(command, ''));
}

function linesOfCommand(command: Command, parent: string): string[] {
  const name = `${parent}${command.name()}`;
  const own = [
    `command ${name}`,
    ...command.registeredArguments.map(
      argument =>
        `argument ${name} ${argument.name()}${argument.required ? '' : ' (optional)'}${argument.variadic ? ' (several)' : ''}`,
    ),
    ...command.options.flatMap(({long, short, required, optional, argChoices = [], mandatory}) => [
      `flag ${name} ${[short, long].filter(Boolean).join(' ')} ${required ? 'VALUE' : optional ? '[VALUE]' : ''}${mandatory ? ' (required)' : ''}`.trimEnd(),
      ...argChoices.map(choice => `flag ${name} ${long} = ${choice}`),
    ]),
  ];
  return [...own, ...command.commands.flatMap(one => linesOfCommand(one, `${name} `))];
}

/** A schema as lines: the type, the choices and the demands of each place. */
export function schemaLines(what: string, name: string): string[] {
  return linesOfSchema(JSON.parse(read(name)) as Json, `${what} `, '');
}

function linesOfSchema(schema: Json, what: string, path: string): string[] {
  const {type, properties = {}, items, additionalProperties, anyOf = [], required = []} = schema;
  const {enum: choices = [], const: only, default: byDefault} = schema;
  const at = (part: string) => `${path}${part}`;
  return [
    ...(type === undefined ? [] : [`${what}${path} is ${String(type)}`]),
    ...(choices as unknown[]).map(choice => `${what}${path} = ${JSON.stringify(choice)}`),
    ...(only === undefined ? [] : [`${what}${path} = ${JSON.stringify(only)}`]),
    ...(byDefault === undefined ? [] : [`${what}${path} by default ${JSON.stringify(byDefault)}`]),
    ...(required as string[]).map(name => `${what}${at(`.${name}`)} is required`),
    ...Object.entries(properties as Record<string, Json>).flatMap(([name, one]) =>
      linesOfSchema(one, what, at(`.${name}`)),
    ),
    ...(typeof items === 'object' ? linesOfSchema(items as Json, what, at('[]')) : []),
    ...(typeof additionalProperties === 'object'
      ? linesOfSchema(additionalProperties as Json, what, at('.*'))
      : []),
    ...(anyOf as Json[]).flatMap(one => linesOfSchema(one, what, path)),
  ];
}

/** Every column that an output may have, as a target without a prefix of its own names it. */
export function columnLines(): string[] {
  const answers = operationNames.flatMap(operation =>
    [...statusColumns(true), ...fieldsOf(operation)].map(
      ({name, kind}) => `column ${operations[operation].prefix}${name} is ${kind}`,
    ),
  );
  return [...answers, ...riskColumns.map(name => `column risk_${name}`), `column ${REPAIRS}`];
}

/** Values and types that a program imports. */
export function libraryLines(): string[] {
  const types = [...read('src/index.ts').matchAll(/export (?:type )?\{([^}]+)\}/g)].flatMap(
    ([, names = '']) => names.split(',').map(name => name.replace(/\btype\b/, '').trim()),
  );
  const settings = [
    ...read('src/library/job-input.ts').matchAll(/^ {2}(?:\/\*\*.*\*\/ )?readonly (\w+)\??:/gm),
  ];
  return [
    ...Object.keys(library).map(name => `library ${name} (value)`),
    ...types.filter(Boolean).map(name => `library ${name}`),
    ...settings.map(([, name]) => `library JobInput.${name}`),
  ];
}

/** Codes, events, metrics and variables that other programs use. */
export function wordLines(): string[] {
  const errors = [...read('docs/errors.md').matchAll(/^- `(\w+)` \(([\d, ]+)\):/gm)];
  const metrics = [...read('docs/reports.md').matchAll(/`(bulk_enrich_\w+)`/g)].map(([, name]) => name);
  const sources = readdirSync(new URL('src/', root), {recursive: true, encoding: 'utf8'}).filter(name =>
    name.endsWith('.ts'),
  );
  const variables = sources.flatMap(name => read(`src/${name}`).match(/\bBULK_ENRICH_[A-Z_]+[A-Z]\b/g) ?? []);
  return [
    ...Object.entries(exitCodes).map(([name, code]) => `exit ${code} ${name}`),
    ...errors.map(([, code, exits]) => `code ${code} exits ${exits}`),
    ...Object.entries(logEvents).map(([name, {level}]) => `event ${name} ${level}`),
    ...metrics.map(name => `metric ${name}`),
    ...variables.map(name => `variable ${name}`),
  ];
}

/** Versions of the files on disk and of the fleet's protocol. */
export function versionLines(directory: string): string[] {
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
    return version === 0 ? [] : [`disk ${name.split('/').at(-1)} ${version}`];
  });
  return [...versions, `fleet protocol ${PROTOCOL_VERSION}`];
}

import {z} from 'zod';
import {describeSettings, jobSchema} from '../src/job/settings.ts';
import {operationNames, operations} from '../src/operations/table.ts';
import {summarySchema} from '../src/report/summary.ts';
import {camelCase} from '../src/sentence.ts';

/**
 * Types that programs use, written out from the schemas: with a sentence for each field, and without zod. `npm run
 * schema` writes those that the code uses too; the build writes the summary's, which the code has from its schema.
 */

interface Json {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Json[];
  readonly items?: Json | readonly Json[];
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
  readonly propertyNames?: Json;
  readonly additionalProperties?: Json | boolean;
}

const union = (parts: readonly string[]) => [...new Set(parts)].join(' | ');

/** Joins the types of a value. Named texts beside any text stay in an editor's completion. */
function unionOf(parts: readonly string[]): string {
  const isOpen = parts.includes('string') && parts.some(part => part.startsWith("'"));
  return union(parts.map(part => (isOpen && part === 'string' ? '(string & {})' : part)));
}

const literal = (value: unknown) => (typeof value === 'string' ? `'${value}'` : String(value));

/** Longest line of a member with its sentence, or of an object. */
const WIDTH = 160;

function typeOf(schema: Json, indent: string): string {
  const {type, anyOf, items, properties, propertyNames, additionalProperties} = schema;
  if (anyOf !== undefined) return unionOf(anyOf.map(one => typeOf(one, indent)));
  if (schema.const !== undefined) return literal(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map(literal));
  if (Array.isArray(type)) return unionOf(type.map(one => typeOf({...schema, type: one}, indent)));
  if (type === 'array') {
    const one = typeOf(items as Json, indent);
    return `readonly ${one.includes(' | ') ? `(${one})` : one}[]`;
  }
  if (type !== 'object') return type === 'integer' ? 'number' : String(type ?? 'unknown');
  const of = additionalProperties as Json;
  if (propertyNames?.enum !== undefined)
    return `{readonly [Name in ${typeOf(propertyNames, indent)}]?: ${typeOf(of, indent)}}`;
  if (properties === undefined) return `Readonly<Record<string, ${typeOf(of, indent)}>>`;
  const types = new Set(Object.values(properties).map(one => typeOf(one, indent)));
  const names = Object.keys(properties);
  if (types.size === 1 && names.join() === operationNames.join())
    return `Readonly<Record<string, ${[...types].join()}>>`;
  const inLine = membersOf(schema, '').trim().replaceAll(';\n', '; ').replace(/;$/, '');
  if (inLine.length < (WIDTH * 2) / 3 && !/\n|\/\*/.test(inLine)) return `{${inLine}}`;
  return `{\n${membersOf(schema, `${indent}  `)}${indent}}`;
}

function membersOf({properties = {}, required = []}: Json, indent: string): string {
  return Object.entries(properties)
    .map(([name, one]) => member(name, one, required.includes(name), indent))
    .join('');
}

function member(name: string, schema: Json, isRequired: boolean, indent: string): string {
  const {description} = schema;
  const type = typeOf(schema, indent);
  const code = `readonly ${name}${isRequired ? '' : '?'}: ${type}${isRequired ? '' : ' | undefined'};\n`;
  if (description === undefined) return indent + code;
  const said = `${indent}/** ${description} */`;
  return `${said}${said.length + code.length > WIDTH || type.includes('\n') ? `\n${indent}` : ' '}${code}`;
}

const inCode = (sentence: string) =>
  sentence.replace(/--([a-z][a-z-]*)/g, (_, flag: string) => camelCase(flag));

const jsonOf = (schema: z.ZodType, io: 'input' | 'output') =>
  z.toJSONSchema(schema, {io, unrepresentable: 'any'}) as Json;

const heading = (from: string) => `// biome-ignore-all format: written by \`npm run schema\` from ${from}.\n`;

/** The answers of the operations. */
function writtenAnswers(): string {
  const nameOf = (name: string) => `${name[0]?.toUpperCase()}${name.slice(1)}Data`;
  const answers = operationNames.map(name => {
    const {data, singular} = operations[name];
    return `/** Answer about ${/^[aeiou]/i.test(singular) ? 'an' : 'a'} ${singular}. */
export interface ${nameOf(name)} {
${membersOf(jsonOf(data, 'input'), '  ')}}
`;
  });
  return `${heading('the other files of this directory')}
${answers.join('\n')}
/** The answer of each operation. */
export interface AnswersByOperation {
${operationNames.map(name => `  readonly ${name}: ${nameOf(name)};\n`).join('')}}
`;
}

/** The declaration of the summary's type. */
export function writtenSummary(): string {
  return `/** Summary of a run: docs/summary.schema.json says the same. */
export interface Summary {
${membersOf(jsonOf(summarySchema, 'output'), '  ')}}
`;
}

/** The settings of a run whose rows a program gives, and those of a job. */
function writtenSettings(): string {
  const given = jsonOf(jobSchema, 'input').properties ?? {};
  const read = jsonOf(jobSchema, 'output').properties ?? {};
  const own = (['name', 'input', 'output'] as const).map(name => ({
    name,
    uses: name === 'name' ? ['library'] : ['run'],
    said: jobSchema.shape[name].description,
  }));
  const offered = describeSettings().filter(({ofTerminal}) => ofTerminal !== true);
  const settings = offered.map(({name, uses, description, default: value, defaultText}) => {
    const known = defaultText ?? (value === undefined ? undefined : String(value));
    return {name, uses, said: inCode(`${description}${known === undefined ? '' : ` Default: ${known}.`}`)};
  });
  const written = (isOfRows: boolean) =>
    [...own, ...settings]
      .filter(({uses}) => (uses as readonly string[]).includes('library') === isOfRows)
      .map(({name, said}) => {
        const choices = (read[name]?.items as Json | undefined)?.enum;
        const schema = {...given[name], ...(choices && openList(choices)), description: said};
        return member(name, schema as Json, name === 'input', '  ');
      })
      .join('');
  return `${heading('src/job/settings, whose sentences the help shows too')}
/** Settings of a run, wherever its rows come from. */
export interface RunSettings {
${written(true)}}

/** Settings of a job, as in a job file, in camel case. */
export interface JobInput extends RunSettings {
${written(false)}}
`;
}

/** One of these words, several of them in a text with commas, or a list of them. */
function openList(choices: readonly unknown[]): Json {
  return {anyOf: [{enum: choices}, {type: 'string'}, {type: 'array', items: {enum: choices}}]};
}

/** By file of src. */
export const writtenTypes: Readonly<Record<string, string>> = {
  'operations/answer-types.ts': writtenAnswers(),
  'library/job-input.ts': writtenSettings(),
};

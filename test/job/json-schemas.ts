import {z} from 'zod';
import {accountSettingsSchema} from '../../src/job/settings/store-settings.ts';
import {jobSchema} from '../../src/job/settings.ts';
import {spellName} from '../../src/sentence.ts';
import {outputSchemas} from './output-schemas.ts';

type Json = Readonly<Record<string, unknown>>;

/** A JSON Schema with a title, which goes first. */
function titled(title: string, schema: z.ZodType): Json {
  const {$schema, ...rest} = z.toJSONSchema(schema, {io: 'input', unrepresentable: 'any'});
  return {$schema, title, ...rest};
}

/** The JSON Schema of job files, by which editors complete and check them. */
function jobJsonSchema(): Json {
  const {$schema, properties, ...rest} = z.toJSONSchema(jobSchema, {io: 'input', unrepresentable: 'any'});
  return {
    $schema,
    title: 'A job of bulk-enrich',
    ...rest,
    required: [...REQUIRED],
    properties: Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, schema]) => [
        spellName(name, '_'),
        forEditors(schema as Json, REQUIRED.has(name)),
      ]),
    ),
  };
}

/** Settings that a job file must have. */
const REQUIRED: ReadonlySet<string> = new Set(['input', 'endpoint']);

/** The schema proper, and the description with what is said of the default. */
function forEditors(described: Json, required: boolean): Json {
  const {defaultText, ...schema} = described;
  const said = defaultText === undefined || required ? '' : ` Default: ${String(defaultText)}.`;
  return {...schema, description: `${String(schema.description)}${said}`};
}

/** The schemas that are written down, by file. */
export const writtenSchemas: Readonly<Record<string, Json>> = {
  'jobs/job.schema.json': jobJsonSchema(),
  'docs/account.schema.json': titled('An account of bulk-enrich', accountSettingsSchema),
  ...Object.fromEntries(
    Object.entries(outputSchemas).map(([name, [title, schema]]) => [
      `docs/${name}.schema.json`,
      titled(title, schema),
    ]),
  ),
};

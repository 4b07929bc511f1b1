import {z} from 'zod';
import {jobSchema, spelled} from './settings.ts';

type Json = Readonly<Record<string, unknown>>;

/** The JSON Schema of job files, by which editors complete and check them. */
export function jobJsonSchema(): Json {
  const {$schema, properties, ...rest} = z.toJSONSchema(jobSchema, {io: 'input', unrepresentable: 'any'});
  return {
    $schema,
    title: 'A job of bulk-enrich',
    ...rest,
    required: [...REQUIRED],
    properties: Object.fromEntries(
      Object.entries(properties ?? {}).map(([name, schema]) => [
        spelled(name, '_'),
        forEditors(schema as Json, REQUIRED.has(name)),
      ]),
    ),
  };
}

/** What a job file can't leave open. */
const REQUIRED: ReadonlySet<string> = new Set(['input', 'endpoint']);

/** The schema proper, and the description with what is said of the default. */
function forEditors(described: Json, required: boolean): Json {
  const {defaultText, ...schema} = described;
  const said = defaultText === undefined || required ? '' : ` Default: ${String(defaultText)}.`;
  return {...schema, description: `${String(schema.description)}${said}`};
}

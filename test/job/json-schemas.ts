import {z} from 'zod';
import {jobSchema, spelled} from '../../src/job/settings.ts';
import {summarySchema} from '../../src/report/summary.ts';

type Json = Readonly<Record<string, unknown>>;

/** The JSON Schema of summaries, for programs that read them. */
function summaryJsonSchema(): Json {
  const {$schema, ...rest} = z.toJSONSchema(summarySchema, {io: 'input'});
  return {$schema, title: 'The summary of a run of bulk-enrich', ...rest};
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

/** The schemas that are written down, by file. */
export const writtenSchemas = {
  'jobs/job.schema.json': jobJsonSchema(),
  'docs/summary.schema.json': summaryJsonSchema(),
};

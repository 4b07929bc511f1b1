// Writes jobs/job.schema.json, docs/account.schema.json and those of outputs from the schemas in the code: npm run schema
import {writeFileSync} from 'node:fs';
import {jobJsonSchema} from '../../dist/job/json-schema.js';
import {accountFileJsonSchema} from '../../dist/job/settings/account-file.js';
import {outputJsonSchemas} from '../../dist/report/outputs.js';

for (const [path, schema] of [
  ['jobs/job.schema.json', jobJsonSchema()],
  ['docs/account.schema.json', accountFileJsonSchema()],
  ...Object.entries(outputJsonSchemas()).map(([name, schema]) => [`docs/${name}.schema.json`, schema]),
])
  writeFileSync(new URL(`../../${path}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);

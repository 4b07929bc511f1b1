// Writes jobs/job.schema.json and docs/summary.schema.json from the schemas in the code: npm run schema
import {writeFileSync} from 'node:fs';
import {jobJsonSchema} from '../../dist/job/json-schema.js';
import {summaryJsonSchema} from '../../dist/report/summary.js';

for (const [path, schema] of [
  ['jobs/job.schema.json', jobJsonSchema()],
  ['docs/summary.schema.json', summaryJsonSchema()],
])
  writeFileSync(new URL(`../../${path}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);

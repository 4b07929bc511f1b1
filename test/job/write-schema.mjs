// Writes jobs/job.schema.json, docs/summary.schema.json and src/library/job-input.ts from what the code says: npm run schema
import {writeFileSync} from 'node:fs';
import {jobJsonSchema} from '../../dist/job/json-schema.js';
import {describeSettings} from '../../dist/job/settings.js';
import {summaryJsonSchema} from '../../dist/report/summary.js';
import {describedSettings} from './described-settings.mjs';

for (const [path, schema] of [
  ['jobs/job.schema.json', jobJsonSchema()],
  ['docs/summary.schema.json', summaryJsonSchema()],
])
  writeFileSync(new URL(`../../${path}`, import.meta.url), `${JSON.stringify(schema, null, 2)}\n`);
writeFileSync(
  new URL('../../src/library/job-input.ts', import.meta.url),
  describedSettings(describeSettings()),
);

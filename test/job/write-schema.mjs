// Writes jobs/job.schema.json from the schema in the code: npm run schema
import {writeFileSync} from 'node:fs';
import {jobJsonSchema} from '../../dist/job/json-schema.js';

const path = new URL('../../jobs/job.schema.json', import.meta.url);
writeFileSync(path, `${JSON.stringify(jobJsonSchema(), null, 2)}\n`);

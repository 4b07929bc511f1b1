import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';
import {parse} from 'yaml';
import {z} from 'zod';
import {writtenTypes} from '../../scripts/written-types.ts';
import {jobSchema} from '../../src/job/settings.ts';
import {spellName} from '../../src/sentence.ts';
import {writtenSchemas} from './json-schemas.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
if (process.env.UPDATE === '1')
  for (const [path, schema] of Object.entries(writtenSchemas))
    writeFileSync(root + path, `${JSON.stringify(schema, null, 2)}\n`);

if (process.env.UPDATE === '1')
  for (const [path, text] of Object.entries(writtenTypes)) writeFileSync(`${root}src/${path}`, text);

test.each(Object.entries(writtenTypes))(
  'src/%s is what the schemas say (npm run schema writes it)',
  (path, text) => {
    expect(readFileSync(`${root}src/${path}`, 'utf8')).toBe(text);
  },
);

test.each(Object.entries(writtenSchemas))(
  '%s is what the code says (npm run schema writes it)',
  (path, schema) => {
    expect(JSON.parse(readFileSync(root + path, 'utf8'))).toEqual(schema);
  },
);

const jobs = `${root}jobs/`;
const written = JSON.parse(readFileSync(`${jobs}job.schema.json`, 'utf8')) as {
  properties: Record<string, {description?: string; deprecated?: boolean}>;
};

test('the schema of jobs has every setting, in snake case and with a sentence', () => {
  const names = Object.keys(jobSchema.shape).map(name => spellName(name, '_'));
  const current = Object.entries(written.properties).filter(([, {deprecated}]) => deprecated !== true);
  expect(current.map(([name]) => name)).toEqual(names);
  for (const {description} of Object.values(written.properties))
    expect(description).toMatch(/^[A-Z].*[.….]$/);
});

describe.each(readdirSync(jobs).filter(name => name.endsWith('.yaml')))('jobs/%s', name => {
  const text = readFileSync(jobs + name, 'utf8');
  const schema = z.fromJSONSchema(written as Parameters<typeof z.fromJSONSchema>[0]);

  test('tells editors where the schema is, and fits it', () => {
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./job.schema.json');
    expect(schema.safeParse(parse(text))).toMatchObject({success: true});
  });

  test('would not fit with a key that is not there', () => {
    expect(schema.safeParse({...parse(text), inputt: 'x'}).success).toBe(false);
  });
});

import {readFileSync} from 'node:fs';
import {fileURLToPath} from 'node:url';
import {expect, it} from 'vitest';
import {fieldsOf, readAll, rejectsOf} from './reading.ts';

const sample = (name: string) => fileURLToPath(new URL(`../../samples/${name}`, import.meta.url));

it('signups.csv: 400 records, none to reject', async () => {
  const {format, records, blankLines} = await readAll(sample('signups.csv'));
  expect(format.columns.join()).toBe('id,signed_up_at,name,email,phone,country,signup_ip,last_login_ip');
  expect(records).toHaveLength(400);
  expect(rejectsOf(records)).toEqual([]);
  expect(blankLines).toBe(2);
});

it('contacts-semicolon.csv: semicolons, a byte order mark and CRLF', async () => {
  const {format, records} = await readAll(sample('contacts-semicolon.csv'));
  expect(format).toMatchObject({delimiter: ';', bom: true, eol: '\r\n'});
  expect(fieldsOf(records)).toHaveLength(150);
});

it('events.ndjson: 200 objects, their text untouched, and a line that was cut off', async () => {
  const {records} = await readAll(sample('events.ndjson'));
  expect(records).toHaveLength(201);
  expect(rejectsOf(records)).toMatchObject([{record: 121, line: 121, reason: 'invalid_json'}]);
  const raw = records.map(record => ('raw' in record ? record.raw : ''));
  expect(`${raw.join('\n')}\n`).toBe(readFileSync(sample('events.ndjson'), 'utf8'));
});

it.each(['signups.csv', 'contacts-semicolon.csv', 'events.ndjson'])(
  '%s holds reserved e-mail domains only, but for role and throw-away mailboxes',
  async name => {
    const domains = readFileSync(sample(name), 'utf8').match(/[^\s@,;"<>]+@[\w.-]*\w/g) ?? [];
    const others = domains.filter(address => !RESERVED.test(address));
    expect(
      others.filter(address => !/^(postmaster(\+news\d+)?|bulk-enrich-sample(-2)?)@/i.test(address)),
    ).toEqual([]);
    expect(domains.length).toBeGreaterThan(100);
  },
);

const RESERVED = /@(?:[\w-]+\.)*example(?:\.(?:com|net|org))?$|\.test$|\.home\.arpa$/i;

import {execFileSync} from 'node:child_process';
import {mkdtempSync, readdirSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, beforeAll, expect, test} from 'vitest';
import {look, situations} from '../run/lists/situation.ts';

let directory = '';
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-mapping-'));
});
afterAll(() => rmSync(directory, {recursive: true}));

const looked = (line: string) => {
  const [situation] = situations(line);
  if (situation === undefined) throw new Error('no situation');
  return look(directory, situation);
};

test('the sentence on columns that are left out names those that would be looked up, and no other', async () => {
  const {said} = await looked(
    'x ▸ [--ip ip] ip,Email,Phone,Mobile,x_forwarded_for ⏎ 6× 192.0.2.{n},p{n}@example.com,,020 7946 000{n},"192.0.2.{n}, 198.51.100.7"',
  );
  expect(said).toBe(
    'Not looked up, as you named other columns: "Email". To look them up too, add --email Email.',
  );
});

test('a run for the verdicts of session tokens says nothing of the other columns', async () => {
  const {becomes, said} = await looked(
    'x ▸ [--verdict token=token,action=a] token,Email ⏎ 6× t{n},p{n}@example.com',
  );
  expect([becomes, said]).toEqual(['verify=token → a,t0 a,t1 a,t2 … 6', '']);
});

test('the user is asked which of several country columns belongs to the phone number beside a token', async () => {
  const {becomes, said} = await looked(
    'x ▸ [--verdict token=token,action=a,phone=Phone --country A --country B] token,Phone,A,B ⏎ 6× t{n},0201 234 56 7{n},GB,DE',
  );
  expect(becomes).toBe('column_unsure');
  expect(said).toContain('The numbers in "Phone" may belong to the countries in "A" or "B".');
});

test('a phone number beside a token and a column of numbers have each their own country', async () => {
  const {becomes} = await looked(
    'x ▸ [--phone shipping_phone --country shipping_country --country billing_country --verdict token=token,action=a,phone=billing_phone] token,shipping_phone,shipping_country,billing_phone,billing_country ⏎ 6× s-{n},030 2312500{n},DE,020 7946 095{n},GB',
  );
  expect(becomes).toMatch(
    /^phone=shipping_phone verify=token country=.* → \+493023125000 a,s-0,\+442079460950 \+493023125001 … 12$/,
  );
});

test('a column of numbers that the user names has no country unless the user names that too', async () => {
  const {becomes} = await looked('x ▸ [--phone Phone] Phone,Country ⏎ 6× 030 2312500{n},DE');
  expect(becomes).toBe('phone=Phone → | 6×country_unknown');
});

test('a column that is empty in the first rows is kept in the command that is offered', async () => {
  const {becomes} = await looked('x ▸ ip,email,phone ⏎ 6× yes,p{n}@example.com,');
  expect(becomes).toBe('column_unsure --email email --phone phone');
});

test('a column whose name has an equals sign is offered as a flag takes it', async () => {
  const {becomes} = await looked('x ▸ ip,email=2 ⏎ 6× yes,p{n}@example.com');
  expect(becomes).toBe('column_unsure --email email=2=email_');
  const taken = await looked('x ▸ [--email email=2=email_] ip,email=2 ⏎ 6× yes,p{n}@example.com');
  expect(taken.becomes).toMatch(/^email=email=2 → p0@example\.com /);
});

test('a name that the header repeats is spoken of only where it is looked up', async () => {
  const rows = '6× p{n}@example.com,p{n}@example.com';
  const own = await looked(`x ▸ email,email ⏎ ${rows}`);
  expect(own.said).toContain('The header has "email" more than once');
  const staff = await looked(`x ▸ email,owner_email,owner_email ⏎ ${rows},o@example.com`);
  expect(staff.becomes).toMatch(/^email=email → /);
  expect(staff.said).not.toContain('more than once');
});

test('each of several country columns has to be there', async () => {
  const {becomes, said} = await looked(
    'x ▸ [--phone Tel --country Land --country Lnd] Tel,Land ⏎ 6× 030 2312500{n},DE',
  );
  expect([becomes, said]).toEqual([
    expect.stringMatching(/^unknown_column/),
    expect.stringContaining('"Lnd"'),
  ]);
});

test('more columns to look up than a run takes are refused, also if the user names them', async () => {
  const names = Array.from({length: 101}, (_, nth) => `email${nth}`);
  const cells = names.map(() => 'p{n}@example.com').join();
  const named = names.map(name => `--email ${name}`).join(' ');
  for (const flags of ['', `[${named}] `]) {
    const {becomes, said} = await looked(`x ▸ ${flags}${names.join()} ⏎ 6× ${cells}`);
    expect([becomes, said]).toEqual(['input_wide', expect.stringContaining('has 101 columns to look up')]);
  }
});

test.each([
  'Owner $(touch planted) Email',
  'Owner `id` Email',
  'Owner "a" \'b\' Email',
  'Owner Email.',
  '=Owner Email',
])('a flag in a message is safe to paste into a shell: %s', async name => {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  const {said} = await looked(`x ▸ Email,${quoted} ⏎ 6× p{n}@example.com,owner@example.com`);
  const [, words = ''] = /; add (--email .*)\.$/m.exec(said) ?? [];
  const printed = execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], {cwd: directory, encoding: 'utf8'});
  // A name with = gets an explicit prefix.
  expect(printed).toBe(`--email\n${name}${name.includes('=') ? '=email_' : ''}\n`);
  expect(readdirSync(directory)).not.toContain('planted');
});

test('so is the flag for another kind, and a prefix for a column whose answers would clash', async () => {
  const other = await looked('x ▸ [--ip $(id)] $(id) ⏎ 6× p{n}@example.com');
  expect(other.said).toContain("--email '$(id)'.");
  const clash = await looked('x ▸ [--ip $(id)] $(id),ip_status ⏎ 6× 192.0.2.{n},ok');
  expect(clash.said).toContain("such as --ip '$(id)=checked_', or");
});

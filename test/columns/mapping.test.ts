import {execFileSync} from 'node:child_process';
import {readdirSync} from 'node:fs';
import {expect, test} from 'vitest';
import {newDirectory} from '../support/new-directory.ts';
import {look, situations} from './lists/situation.ts';

const within = newDirectory();

const looked = (line: string) => {
  const [situation] = situations(line);
  if (situation === undefined) throw new Error('no situation');
  return look(within(), situation);
};

const table = situations(`
only columns that would be looked up are named as left out ▸ [--ip ip] ip,Email,Phone,Mobile,x_forwarded_for ⏎ 6× 192.0.2.{n},p{n}@example.com,,020 7946 000{n},"192.0.2.{n}, 198.51.100.7" ▸ ip=ip → 192.0.2.0 192.0.2.1 192.0.2.2 … 6 ▸ Not looked up, as you named other columns: "Email". To look them up too, add --email Email.
which of several country columns belongs to the number beside a token is asked ▸ [--verdict token=token,action=a,phone=Phone --country A --country B] token,Phone,A,B ⏎ 6× t{n},0201 234 56 7{n},GB,DE ▸ column_unsure ▸ The numbers in "Phone" may belong to the countries in "A" or "B".
a number beside a token and a column of numbers have each their own country ▸ [--phone shipping_phone --country shipping_country --country billing_country --verdict token=token,action=a,phone=billing_phone] token,shipping_phone,shipping_country,billing_phone,billing_country ⏎ 6× s-{n},030 2312500{n},DE,020 7946 095{n},GB ▸ phone=shipping_phone verify=token country=shipping_country country=billing_country → +493023125000 a,s-0,+442079460950 +493023125001 … 12
a column of numbers that the user names has no country unless the user names that too ▸ [--phone Phone] Phone,Country ⏎ 6× 030 2312500{n},DE ▸ phone=Phone → | 6×country_unknown
a column that is empty in the first rows is kept in the command that is offered ▸ ip,email,phone ⏎ 6× yes,p{n}@example.com, ▸ column_unsure --email email --phone phone
a column whose name has an equals sign is offered as a flag takes it ▸ ip,email=2 ⏎ 6× yes,p{n}@example.com ▸ column_unsure --email email=2=email_
and it takes that flag ▸ [--email email=2=email_] ip,email=2 ⏎ 6× yes,p{n}@example.com ▸ email=email=2 → p0@example.com p1@example.com p2@example.com … 6
a name that the header repeats is spoken of where it is looked up ▸ email,email ⏎ 6× p{n}@example.com,p{n}@example.com ▸ email=email email=email#2 → p0@example.com p1@example.com p2@example.com … 6 ▸ The header has "email" more than once
each of several country columns has to be there ▸ [--phone Tel --country Land --country Lnd] Tel,Land ⏎ 6× 030 2312500{n},DE ▸ unknown_column ▸ "Lnd"
`);

test.each(table)('$name', async situation => {
  const {becomes, said} = await look(within(), situation);
  expect(becomes, said).toBe(situation.becomes);
  for (const part of situation.says) expect(said).toContain(part);
});

test('a run for the verdicts of session tokens says nothing of the other columns', async () => {
  const list = '[--verdict token=token,action=a] token,Email ⏎ 6× t{n},p{n}@example.com';
  expect(await looked(`x ▸ ${list}`)).toMatchObject({becomes: 'verify=token → a,t0 a,t1 a,t2 … 6', said: ''});
});

test('a name that the header repeats is not spoken of where it is not looked up', async () => {
  const rows = '6× p{n}@example.com,p{n}@example.com,o@example.com';
  const {becomes, said} = await looked(`x ▸ email,owner_email,owner_email ⏎ ${rows}`);
  expect(becomes).toMatch(/^email=email → /);
  expect(said).not.toContain('more than once');
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

test('a list that is too wide to be searched is read if its columns are named', async () => {
  const gaps = ','.repeat(16_400);
  const list = `name,email${gaps.replaceAll(',', ',x')} ⏎ 3× Ada,p{n}@example.com${gaps}`;
  expect((await looked(`x ▸ ${list}`)).becomes).toBe('input_wide');
  const {becomes} = await looked(`x ▸ [--email email] ${list}`);
  expect(becomes).toBe('email=email → p0@example.com p1@example.com p2@example.com');
});

test.each([
  ...['Owner $(touch planted) Email', 'Owner `id` Email', 'Owner "a" \'b\' Email', 'Owner Email.'],
  '=Owner Email',
])('a flag in a message is safe to paste into a shell: %s', async name => {
  const quoted = `"${name.replaceAll('"', '""')}"`;
  const {said} = await looked(`x ▸ Email,${quoted} ⏎ 6× p{n}@example.com,owner@example.com`);
  const [, words = ''] = /; add (--email .*)\.$/m.exec(said) ?? [];
  const printed = execFileSync('sh', ['-c', `printf '%s\\n' ${words}`], {cwd: within(), encoding: 'utf8'});
  // A name with = gets an explicit prefix.
  expect(printed).toBe(`--email\n${name}${name.includes('=') ? '=email_' : ''}\n`);
  expect(readdirSync(within())).not.toContain('planted');
});

test('a flag for another kind, and a prefix for a column whose answers would clash, are safe to paste, too', async () => {
  const other = await looked('x ▸ [--ip $(id)] $(id) ⏎ 6× p{n}@example.com');
  expect(other.said).toContain("--email '$(id)'.");
  const clash = await looked('x ▸ [--ip $(id)] $(id),ip_status ⏎ 6× 192.0.2.{n},ok');
  expect(clash.said).toContain("such as --ip '$(id)=checked_', or");
});

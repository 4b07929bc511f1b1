import {writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {expect, test} from 'vitest';
import {type JobInput, runJob} from '../../src/index.ts';
import type {Call} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {startProgram} from './program.ts';

const PHONES = ['phone,mail', ...Array.from({length: 9}, (_, n) => `030 2312500${n},jo.${n}@example.com`)];
const BOTH = ['ip,mail', ...Array.from({length: 9}, (_, n) => `192.0.2.${n},jo.${n}@example.com`)];
const OFTEN = ['ip,ip', ...Array.from({length: 9}, (_, n) => `192.0.2.${n},192.0.2.${n + 9}`)];
const NONE = ['a,b', ...Array.from({length: 9}, (_, n) => `${n},text ${n}`)];
const NOT_FOUND = ['ip', ...Array.from({length: 9}, (_, n) => `198.51.100.${n}`)];
const VALUES = Array.from({length: 9}, (_, n) => `x,+4930231250${n}0`);

/** A list, settings, and parts of what a program is told. */
const cases: readonly (readonly [string, readonly string[], Partial<JobInput>, readonly string[]])[] = [
  [
    'a limit that stops the run',
    BOTH,
    {ip: 'ip', maxCredits: 1},
    ['The credit limit (maxCredits) is reached'],
  ],
  ['columns beside those that are named', BOTH, {ip: 'ip'}, ['To look them up too, add email: "mail".']],
  ['a country that is missing', PHONES, {}, ['country: COLUMN', 'name the other columns: email: "mail".']],
  ['a column that is there twice', OFTEN, {}, ['To look up one of them, name it: ip: "ip".']],
  ['no column', NONE, {}, ['Name them with ip, phone or email (columns: a, b).']],
  ['values as a header', VALUES, {}, ['It is read as with header: false']],
  ['a name of a format that is not written', BOTH, {output: 'out.xlsx'}, ['outputFormat: "csv-bom"']],
  [
    'two files in one place',
    BOTH,
    {report: 'x.html', metrics: 'x.html'},
    ['report and metrics are the same file'],
  ],
  ['a directory for the report', BOTH, {ip: 'ip', report: 'none/r.html'}, ['report: the directory of']],
  [
    'an output of a run',
    ['ip,ip_status,ip_error', '192.0.2.1,ok,'],
    {ip: 'ip'},
    ['such as ip: "ip=checked_"'],
  ],
  ['a stop by refusals', NOT_FOUND, {ip: 'ip', maxErrors: '1%'}, ['the run stopped before it spent more']],
];

test.each(cases)('a program is told no flag: %s', async (_, lines, settings, parts) => {
  const script = ({value}: Call) =>
    value.startsWith('198.') ? reply.json({success: false}, 404) : undefined;
  await using program = await startProgram({script});
  const within = (name: string) => join(program.temporary, name);
  writeFileSync(within('list.csv'), `${lines.join('\n')}\n`);
  const told: string[] = [];
  const paths = Object.entries({output: 'out.csv', ...settings}).map(([name, value]) => [
    name,
    ['output', 'report', 'metrics'].includes(name) ? within(String(value)) : value,
  ]);
  const given = {...Object.fromEntries(paths), input: within('list.csv'), rate: 'unlimited'} as JobInput;
  const options = {...program.options, onWarning: (sentence: string) => void told.push(sentence)};
  const said = await runJob(given, options).then(
    ({message}) => message,
    (error: Error) => error.message,
  );
  const all = [...told, said].join('\n');
  for (const part of parts) expect(all).toContain(part);
  expect(all).not.toMatch(/(?<![\w-])--?[a-z]/);
});

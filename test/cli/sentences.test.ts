import {join} from 'node:path';
import {expect, test} from 'vitest';
import {KEY, startService} from '../e2e/service.ts';
import {reply} from '../support/api-server-reply.ts';
import {createSandbox} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {expectText} from '../support/told.ts';

const LIST = `id,ip,phone,email
1,203.0.113.1,+12125550188,jo@example.com
2,203.0.113.2,'+12125550188,al@example.com
3,2001:db8::1,,jo@example.com
4,203.0.113.1,030 23125 001,someone
5,203.0.113.9,+12125550199,jo@example.com,one too many
`;

/** Parts that differ between runs or machines. */
const CHANGING: readonly (readonly [RegExp, string])[] = [
  [/127\.0\.0\.1:\d+/g, '127.0.0.1:PORT'],
  [/\b\d+ (ms|s)\b(?! at )/g, 'TIME'],
  [/[\d,]+ MiB free/g, 'SIZE free'],
  [/\b\d+ [A-Z][a-z]{2} \d{4}, \d\d:\d\d UTC/g, 'DATE'],
  [/\b\d{4}-\d\d-\d\d\b/g, 'DAY'],
  [/^[0-9a-f]{8} {2}\d\d-\d\d \d\d:\d\d/gm, 'RUN       MM-DD hh:mm'],
];

/**
 * The sentences of the command, as a person meets them in a first hour: to be read as a whole, and compared as a whole.
 * Other tests go by codes and figures.
 */
test('messages of the command (-u writes them)', async () => {
  await using service = await startService({
    script: call => (call.value === 'al@example.com' ? reply.html() : undefined),
  });
  using sandbox = createSandbox({'list.csv': LIST});
  sandbox.write('office.csv', `Name,Business Phone\n${'Jo,030 23125 001\n'.repeat(6)}`);
  const told: string[] = [];
  const tell = async (line: string, env: Readonly<Record<string, string>> = service.env) => {
    const {code, stdout, stderr} = await runHere(sandbox, line.split(' ').slice(1), {env});
    told.push(`$ ${line}\n${stderr}${stdout}${code === 0 ? '' : `(exit code ${code})\n`}`);
  };
  await tell('bulk-enrich', {});
  await tell('bulk-enrich --help');
  await tell('bulk-enrich doctor', {});
  await tell('bulk-enrich doctor');
  await tell('bulk-enrich plan list.csv');
  await tell('bulk-enrich run list.csv --max-credits 2');
  await tell('bulk-enrich run list.csv --max-credits 7');
  await tell('bulk-enrich run list.csv --max-credits 7');
  await tell('bulk-enrich explain list.enriched.csv --level high');
  await tell('bulk-enrich run list.csv --endpoint embedded -o open.csv --score none');
  await tell('bulk-enrich run office.csv');
  await tell('bulk-enrich init list.csv');
  await tell('bulk-enrich runs');
  await tell('bulk-enrich spend --by operation');
  const text = CHANGING.reduce((all, [changing, name]) => all.replace(changing, name), told.join('\n'));
  expect(text).not.toContain(KEY);
  expectText(join(import.meta.dirname, 'sentences.txt'), text.replaceAll(sandbox.home, '/home/jo'));
});

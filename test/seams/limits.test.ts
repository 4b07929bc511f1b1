import {existsSync} from 'node:fs';
import {expect, test} from 'vitest';
import {openProgram, rowsOf} from './program.ts';

/** Limits of the input, by the files that a run leaves. */

const SIZE = 1_048_576;

/** A row of this many bytes, without its line's end. */
const rowOf = (bytes: number, start: string) => `${start}${'x'.repeat(bytes - start.length)}`;
const objectOf = (bytes: number) => `${rowOf(bytes - 2, '{"ip":"8.8.8.8","note":"')}"}`;

test.each([
  ['CSV, one byte below', 'list.csv', `ip,note\n${rowOf(SIZE - 1, '8.8.8.8,')}\n`, 'ok'],
  ['CSV, as large', 'list.csv', `ip,note\n${rowOf(SIZE, '8.8.8.8,')}\n`, 'ok'],
  ['CSV, one byte above', 'list.csv', `ip,note\n${rowOf(SIZE + 1, '8.8.8.8,')}\n`, 'rejected'],
  ['CSV, quoted, as large', 'list.csv', `ip,note\n${rowOf(SIZE - 1, '8.8.8.8,"')}"\n`, 'ok'],
  ['CSV, quoted, one byte above', 'list.csv', `ip,note\n${rowOf(SIZE, '8.8.8.8,"')}"\n`, 'rejected'],
  ['CSV, two bytes for a letter', 'list.csv', `ip,note\n${rowOf(SIZE - 1, '8.8.8.8,')}é\n`, 'rejected'],
  ['objects, as large', 'list.ndjson', `${objectOf(SIZE)}\n`, 'ok'],
  ['objects, one byte above', 'list.ndjson', `${objectOf(SIZE + 1)}\n`, 'rejected'],
])('a record of the largest size: %s', async (_, name, text, expected) => {
  await using program = await openProgram();
  program.write(name, `${text}${name.endsWith('.csv') ? '9.9.9.9,\n' : '{"ip":"9.9.9.9"}\n'}`);
  const output = `out.${name.split('.')[1]}`;
  const paths = {input: program.path(name), output: program.path(output)};
  const {code, summary} = await program.run({...paths, ip: 'ip'});
  const isRejected = expected === 'rejected';
  expect([code, summary?.rows.written, summary?.rows.rejected]).toEqual(isRejected ? [3, 1, 1] : [0, 2, 0]);
  const rejects = existsSync(program.path('out.rejects.ndjson')) ? program.read('out.rejects.ndjson') : '';
  expect(rejects.split('\n').length - 1).toBe(isRejected ? 1 : 0);
  expect(program.api.ledger.values.ip.has('8.8.8.8')).toBe(!isRejected);
});

const table = 'ip,city\n8.8.8.8,a\n9.9.9.9,b\n1.1.1.1,c\n1.0.0.1,d\n';
const titles = (count: number) => Array.from({length: count}, (_, nth) => `Report ${nth}\n`).join('');

test.each([1, 19, 20])('%d lines above the header are left out, and told', async count => {
  await using program = await openProgram();
  program.write('list.csv', titles(count) + table);
  const {code, summary} = await program.run({});
  expect([code, summary?.rows.read]).toEqual([0, 4]);
  expect(rowsOf(program.read('out.csv')).map(({ip, ip_status: status}) => `${ip} ${status}`)).toEqual(
    ['8.8.8.8', '9.9.9.9', '1.1.1.1', '1.0.0.1'].map(ip => `${ip} ok`),
  );
});

test('21 lines above the header are no title: the first of them is the header', async () => {
  await using program = await openProgram();
  program.write('list.csv', titles(21) + table);
  const {code, reason} = await program.run({ip: 'ip'});
  expect([code, reason]).toEqual([2, 'unknown_column']);
  expect(program.api.ledger.calls).toBe(0);
});

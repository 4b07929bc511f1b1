import {gzipSync} from 'node:zlib';
import {ips} from '../support/stage.ts';
import {by, type Cases, RUN, type Way} from './case.ts';

const NAMED = 'run list.csv --ip ip';
const GUESSED = 'run list.csv';
const JOB = 'run --job job.yaml';
const job = {'job.yaml': 'input: list.csv\noutput: out.csv\nendpoint: embedded\nip: ip\n'};
const lines = (count: number, text: string) => `${text}\n`.repeat(count);

/** A row per line, each of so many fields that no table holds them. */
const WIDE = JSON.stringify(Object.fromEntries(Array.from({length: 2_100}, (_, n) => [`f${n}`, n])));
const ZSTD = Buffer.from('28b52ffd0401', 'hex');

/** Errors of a list, its columns and rows. */
export const inputCases: Cases = {
  'input_missing 8': by('run none.csv --ip ip'),
  'input_unreadable 8': by('run . -o out.csv --ip ip'),
  'input_empty 8': by(NAMED, {'list.csv': ''}),
  'input_corrupt 8': by('run list.csv.gz --ip ip', {'list.csv.gz': gzipSync(ips(200)).subarray(0, 300)}),
  'input_binary 8': by(NAMED, {'list.csv': Buffer.from('PK\u0003\u0004\0\0\0\0\u00ff')}),
  'input_markup 8': by(NAMED, {'list.csv': '<!doctype html><html><body>Sign in</body></html>\n'}),
  'input_header 8': by(NAMED, {'list.csv': '"ip\n192.0.2.1\n'}),
  'input_wide 8': by(GUESSED, {'list.csv': `ip${',a'.repeat(16_384)}\n192.0.2.1${','.repeat(16_384)}\n`}),
  'input_title 8': by(JOB, {...job, 'list.csv': `Sign-ups\n\nid,ip\n${lines(5, '7,192.0.2.1')}`}),
  'input_rejected 8': by(NAMED, {'list.csv': `ip\n${lines(60, '192.0.2.1,1,2')}`}),
  'input_headers_differ 8': by('run list.csv other.csv -o out.csv --ip ip', {
    'other.csv': 'email\njo@example.com\n',
  }),
  'max_rejects 8': by(`${NAMED} --max-rejects 0`, {'list.csv': `ip\n${lines(9, '192.0.2.1')}192.0.2.1,7\n`}),
  'column_clash 2': by(NAMED, {'list.csv': 'ip,ip_status\n192.0.2.1,a\n'}),
  'column_invalid 2': by(NAMED, {'list.csv': `ip\n${lines(40, 'no address')}`}),
  'column_unsure 2': by(GUESSED, {'list.csv': `ip\n${lines(9, 'maybe')}192.0.2.1\n`}),
  'header_is_value 2': by(JOB, {...job, 'list.csv': '192.0.2.1,a\n192.0.2.2,b\n'}),
  'no_columns 2': by(GUESSED, {'list.csv': 'a,b\n1,2\n'}),
  'unknown_column 2': by('run list.csv --ip itp'),
  'unknown_field 2': by(`${RUN} --fields ip.citty`),
  'too_many_columns 2': by('run list.ndjson -o out.csv --flatten --ip f1', {'list.ndjson': `${WIDE}\n`}),
  'rejected_row 2': ofOutput('explain out.csv --row 2'),
  'no_risk 2': ofOutput('explain out.csv --row 9'),
  'no_bad_rows 2': ofOutput('score out.csv --rules default --bad row.ip==""'),
  'input_compression 8': by('run list.csv.zst --ip ip', {'list.csv.zst': ZSTD}),
};

/** A command on the output of a list whose second row is unreadable. */
function ofOutput(line: string): Way {
  return async ({sandbox, command}) => {
    sandbox.write('list.csv', 'ip\n192.0.2.1\n192.0.2.2,7\n192.0.2.3\n');
    await command('run list.csv -o out.csv --ip ip --rate unlimited');
    return command(line);
  };
}

import {chmodSync, mkdirSync, symlinkSync} from 'node:fs';
import {createClient} from '../../src/index.ts';
import {whileAnothers} from '../support/other-user.ts';
import {accountFile, by, type Cases, RUN, thrown, type Way} from './case.ts';

/** The summary of another output. */
const OTHERS = '{"schema_version": 2, "output": {"path": "other.csv"}}\n';
const LIVE = {BULK_ENRICH_BASE_URL: 'https://api.example.com'};
const NOTHING = {BULK_ENRICH_BASE_URL: undefined, BULK_ENRICH_API_KEY: undefined};
const CIRCULAR = `input: list.csv
endpoint: live
ip: {column: ip, when: email.trust_score < 30}
email: {column: email, when: ip.is_vpn}
`;
const WITHOUT_KEY = {BULK_ENRICH_API_KEY: undefined};

/** Errors of settings, files that they name, and the environment. */
export const settingsCases: Cases = {
  'settings 2': by(`${RUN} --rate fast`),
  'unknown_command 2': by('runn list.csv'),
  'no_input 2': by('init -'),
  'no_output 2': by('run - --ip ip'),
  'stdin_twice 2': by('run - - -o out.csv --ip ip'),
  'no_store 2': by(`${RUN} --no-store --require-store`),
  'output_format 2': by('run list.csv -o out.xlsx --ip ip'),
  'own_files 2': by('run out*.csv -o out.csv --ip ip', {'out.csv': 'ip\n192.0.2.1\n'}),
  'job_file 2': by('run --job none.yaml'),
  'job_syntax 2': by('run --job job.yaml', {'job.yaml': 'ip: [\n'}),
  'job_columns 2': by('run --job job.yaml', {'job.yaml': 'input: list.csv\nendpoint: live\n'}),
  'job_endpoint 2': by('run --job job.yaml', {'job.yaml': 'input: list.csv\nip: ip\n'}),
  'strange_host 2': by(
    'run --job job.yaml',
    {'job.yaml': 'input: list.csv\nendpoint: https://elsewhere.example.com/v1\nip: ip\n'},
    {env: LIVE},
  ),
  'no_endpoint 2': by(RUN, {}, {env: NOTHING}),
  'no_key 2': by(RUN, {}, {env: {...LIVE, ...WITHOUT_KEY}}),
  'empty_variable 2': by(RUN, {}, {env: {BULK_ENRICH_API_KEY: ''}}),
  'two_keys 2': by(RUN, {key: 'k'}, {env: {BULK_ENRICH_API_KEY_FILE: 'key'}}),
  'key_file 2': by(RUN, {}, {env: {...WITHOUT_KEY, BULK_ENRICH_API_KEY_FILE: 'none'}}),
  'key_variable 2': by(RUN, {}, {env: {BULK_ENRICH_API_KEY: '"quoted"'}}),
  'key_command 2': by(RUN, {}, {env: {...WITHOUT_KEY, BULK_ENRICH_API_KEY_COMMAND: 'false'}}),
  'base_url_invalid 2': by(RUN, {}, {env: {BULK_ENRICH_BASE_URL: 'nowhere'}}),
  'base_url_insecure 2': by(RUN, {}, {env: {BULK_ENRICH_BASE_URL: 'http://api.example.com'}}),
  'proxy_invalid 2': by(RUN, {}, {env: {...LIVE, HTTPS_PROXY: 'socks5://127.0.0.1:1'}}),
  'timeout_invalid 2': thrown(({service: {url}}) => createClient({baseUrl: url, apiKey: 'k', timeoutMs: 0})),
  'account_file 2': async place => {
    mkdirSync(`${place.sandbox.home}/config/bulk-enrich/accounts/a.yaml`, {recursive: true});
    return place.command(RUN);
  },
  'account_syntax 2': withAccounts(RUN, 'endpoint: [\n'),
  'account_settings 2': withAccounts(RUN, 'endpoint: URL\nwarnat: 1\n'),
  'account_twice 2': withAccounts(RUN, 'endpoint: URL\n', 'endpoint: URL\n'),
  'account_missing 2': withAccounts(`${RUN} --account nightly`, 'endpoint: URL\n'),
  'score_file 2': by('run list.csv --ip ip --score none.yaml'),
  'score_syntax 2': by('run list.csv --ip ip --score rules.yaml', {'rules.yaml': 'rules: [\n'}),
  'score_rules 2': by('run list.csv --ip ip --score rules.yaml', {'rules.yaml': 'rulez: []\n'}),
  'score_list 2': by('run list.csv --ip ip --score rules.yaml', {
    'rules.yaml':
      'lists: {ours: {file: none.txt}}\nrules: [{when: ip.country in list.ours, add: 1, reason: ours}]\n',
  }),
  'expression 2': by(`${RUN} --where row.ip.`),
  'circular_when 2': by('run --job job.yaml', {'list.csv': 'ip,email\n', 'job.yaml': CIRCULAR}),
  'not_a_value 2': by('lookup ip 192.0.2.256'),
  'unknown_operation 2': by('lookup car x'),
  'unknown_country 2': by('store purge 0301234 --default-country utopia'),
  'no_action 2': by('verify --token t'),
  'unknown_run 2': by('runs ffff'),
  'no_rejects 2': by('rejects none.ndjson', {'none.ndjson': '{"ip":"192.0.2.1"}\n'}),
  'row 2': by('explain out.csv --row none', {'out.csv': 'ip\n'}),
  'not_output 2': by('explain out.csv --row 1', {'out.csv': 'ip,ip_status\n192.0.2.1,ok\n'}),
  'port 2': ({command, service}) => command(`serve --port ${new URL(service.url).port}`),
  'service_setup 2': by('serve --port 0 --rules none.yaml'),
  'no_redis 2': by('worker'),
  'redis_url 2': by('worker --redis http://127.0.0.1'),
  'redis_password 2': by('worker --redis redis://:secret@127.0.0.1'),
  'fleet_secret 2': by('worker --endpoint embedded --redis redis://127.0.0.1:1', {}, {env: NOTHING}),
  'fleet_unreachable 5': by('worker --redis redis://127.0.0.1:1'),
  'same_file 2': by(`${RUN} --summary out.csv`),
  'no_file 2': by(`${RUN} --summary -`),
  'is_directory 2': by(`${RUN} --summary .`),
  'foreign_link 2': async ({sandbox, command}) => {
    const open = sandbox.path('open');
    mkdirSync(open);
    chmodSync(open, 0o1777);
    sandbox.write('other.csv', '');
    symlinkSync('../other.csv', `${open}/out.csv`);
    return whileAnothers(`${open}/out.csv`, () => command('run list.csv -o open/out.csv --ip ip'));
  },
  'output_exists 2': by(RUN, {'out.csv': 'precious\n'}),
  'file_exists 2': by(RUN, {'out.rejects.ndjson': 'precious\n'}),
  'summary_exists 2': by(RUN, {'out.summary.json': OTHERS, 'out.csv.summary.json': OTHERS}),
  'output_compressed 2': by('run list.csv -o out.csv.zst --ip ip'),
};

/** A command where the user has files of accounts. */
function withAccounts(line: string, ...texts: readonly string[]): Way {
  return place => {
    for (const [nth, text] of texts.entries()) accountFile(place, text, `${'ab'[nth]}.yaml`);
    return place.command(line);
  };
}

import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {afterAll, beforeAll, describe, expect, it} from 'vitest';
import {bin} from '../support/command.ts';
import {lacks, postgresPrograms} from '../support/real-parts.ts';

const programs = postgresPrograms();
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-test-'));
afterAll(() => rmSync(directory, {recursive: true, force: true}));

function asPostgres(program: string, ...args: string[]): void {
  const asUser = ['-u', 'postgres', '--', join(programs ?? '', program), ...args];
  execFileSync('runuser', asUser, {cwd: directory, stdio: 'ignore'});
}

const url = `postgresql:///postgres?host=${directory}&user=postgres`;
const sql = (text: string) => execFileSync('psql', [url, '-qAtX', '-c', text], {encoding: 'utf8'}).trim();

function startServer(): void {
  chmodSync(directory, 0o777);
  const data = join(directory, 'data');
  execFileSync('install', ['-d', '-o', 'postgres', '-m', '700', data]);
  asPostgres('initdb', '-D', data, '-A', 'trust', '--no-sync');
  const options = `-c listen_addresses='' -k ${directory} -F`;
  asPostgres('pg_ctl', '-D', data, '-w', '-o', options, '-l', join(directory, 'log'), 'start');
}

describe.skipIf(lacks('postgresql'))('jobs/postgres.sh, with a real PostgreSQL', () => {
  const home = mkdtempSync(join(directory, 'home-'));

  beforeAll(() => {
    startServer();
    sql(`CREATE TABLE list (id bigint, ip text, email text, fault int DEFAULT 1);
      INSERT INTO list SELECT i, '192.0.2.' || i % 200, CASE WHEN i % 7 = 0 THEN NULL ELSE 'user' || i || '@example.com' END FROM generate_series(1, 500) i;
      CREATE VIEW signups AS SELECT id, ip, email FROM list WHERE 1 / fault = 1`);
  });
  afterAll(() => asPostgres('pg_ctl', '-D', join(directory, 'data'), '-m', 'immediate', 'stop'));

  it('leaves the table as it was where the run or the export is cut off', () => {
    expect(runScript(home, '"$real" "$@" | head -n 50; exit 5').status).toBe(1);
    expect(sql('SELECT count(*) FROM signup_risk')).toBe('0');
    sql('UPDATE list SET fault = 0 WHERE id = 400');
    expect(runScript(home).status).toBe(1);
    expect(sql('SELECT count(*) FROM signup_risk')).toBe('0');
    sql('UPDATE list SET fault = 1');
  });

  it('goes from a table to a table, every row once and in its columns', () => {
    expect(runScript(home)).toEqual({status: 0, stderr: ''});
    const found = sql(
      'SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE email_status = $$empty$$) FROM signup_risk',
    );
    expect(found).toBe('500|500|71');
    expect(sql('SELECT ip_status, ip_is_vpn, email_is_valid FROM signup_risk WHERE id = 8')).toBe('ok|f|t');
    const same = sql(
      'SELECT bool_and(r.ip = s.ip AND r.email IS NOT DISTINCT FROM s.email) FROM signup_risk r JOIN signups s USING (id)',
    );
    expect(same).toBe('t');
  });

  it('again: rows that changed are replaced, and none occurs twice', () => {
    sql("UPDATE list SET email = 'nobody@' WHERE id = 8");
    // Some lookups failed: all rows are there.
    expect(runScript(home, '"$real" "$@" || exit; exit 3')).toEqual({status: 0, stderr: ''});
    expect(sql('SELECT count(*), count(DISTINCT id) FROM signup_risk')).toBe('500|500');
    expect(sql('SELECT email_status FROM signup_risk WHERE id = 8')).toBe('invalid');
  });

  it('leaves the table as it was where a row could not be read, and says where it is', () => {
    sql("INSERT INTO list VALUES (501, '192.0.2.1', repeat('x', 1200000)), (502, '192.0.2.2', '')");
    const {status, stderr} = runScript(home);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^Nothing was loaded: signups\.rejects\.ndjson has rows/m);
    expect(readFileSync(join(home, 'signups.rejects.ndjson'), 'utf8')).toMatch(/"reason":"too_large"/);
    expect(sql('SELECT count(*) FROM signup_risk')).toBe('500');
    // The row is readable now, and the file of that night goes.
    sql('DELETE FROM list WHERE id = 501');
    expect(runScript(home)).toEqual({status: 0, stderr: ''});
    expect(sql('SELECT id, email IS NULL, email_status FROM signup_risk WHERE id > 500')).toBe('502|t|empty');
  });
});

/** `command`: what stands in for `bulk-enrich`; the real one is `$real`. */
function runScript(home: string, command = 'exec "$real" "$@"') {
  writeFileSync(join(directory, 'real'), `#!/bin/sh\nexec '${process.execPath}' '${bin}' "$@"\n`);
  writeFileSync(join(directory, 'bulk-enrich'), `#!/bin/sh\nreal=${directory}/real\n${command}\n`);
  for (const name of ['real', 'bulk-enrich']) chmodSync(join(directory, name), 0o755);
  const script = fileURLToPath(new URL('../../jobs/postgres.sh', import.meta.url));
  const PATH = `${directory}:${process.env.PATH}`;
  const env = {PATH, HOME: home, DATABASE_URL: url, BULK_ENRICH_ENDPOINT: 'embedded'};
  const {status, stderr} = spawnSync('bash', [script], {cwd: home, env, encoding: 'utf8'});
  return {status, stderr: status === 0 && !/error/i.test(stderr) ? '' : stderr};
}

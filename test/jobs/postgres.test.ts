import {execFileSync, spawnSync} from 'node:child_process';
import {chmodSync, chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {afterAll, describe, expect, it} from 'vitest';
import {bin} from '../support/command.ts';

/** The server's programs where they are installed and this process may become their user; Debian's path. */
function serverPrograms(): string | undefined {
  const root = '/usr/lib/postgresql';
  const [version] = existsSync(root) ? readdirSync(root).sort().reverse() : [];
  const found = version === undefined ? undefined : join(root, version, 'bin');
  const usable = found !== undefined && existsSync(join(found, 'initdb')) && process.getuid?.() === 0;
  return usable && spawnSync('runuser', ['-u', 'postgres', 'true']).status === 0 ? found : undefined;
}

const programs = serverPrograms();
const directory = mkdtempSync(join(tmpdir(), 'bulk-enrich-test-'));
afterAll(() => rmSync(directory, {recursive: true, force: true}));

function asPostgres(program: string, ...args: string[]): void {
  execFileSync('runuser', ['-u', 'postgres', '--', join(programs ?? '', program), ...args], {
    cwd: directory,
    stdio: 'ignore',
  });
}

describe.skipIf(programs === undefined)(
  'jobs/postgres.sh, with a real PostgreSQL (skipped where none is installed)',
  () => {
    it('goes from a table to a table, every row once and in its columns', {timeout: 60_000}, () => {
      chmodSync(directory, 0o777);
      const data = join(directory, 'data');
      execFileSync('install', ['-d', '-o', 'postgres', '-m', '700', data]);
      asPostgres('initdb', '-D', data, '-A', 'trust', '--no-sync');
      asPostgres(
        'pg_ctl',
        '-D',
        data,
        '-w',
        '-o',
        `-c listen_addresses='' -k ${directory} -F`,
        '-l',
        join(directory, 'log'),
        'start',
      );
      try {
        const url = `postgresql:///postgres?host=${directory}&user=postgres`;
        const sql = (text: string) =>
          execFileSync('psql', [url, '-qAtX', '-c', text], {encoding: 'utf8'}).trim();
        sql(`CREATE TABLE signups (id bigint, ip text, email text);
        INSERT INTO signups SELECT i, '192.0.2.' || i % 200, CASE WHEN i % 7 = 0 THEN NULL ELSE 'user' || i || '@example.com' END FROM generate_series(1, 500) i`);
        runScript(url);
        expect(
          sql(
            'SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE email_status = $$empty$$) FROM signup_risk',
          ),
        ).toBe('500|500|71');
        expect(sql('SELECT ip_status, ip_is_vpn, email_is_valid FROM signup_risk WHERE id = 8')).toBe(
          'ok|f|t',
        );
        expect(
          sql(
            'SELECT bool_and(r.ip = s.ip AND r.email IS NOT DISTINCT FROM s.email) FROM signup_risk r JOIN signups s USING (id)',
          ),
        ).toBe('t');
      } finally {
        asPostgres('pg_ctl', '-D', data, '-m', 'immediate', 'stop');
      }
    });
  },
);

function runScript(url: string): void {
  writeFileSync(join(directory, 'bulk-enrich'), `#!/bin/sh\nexec ${process.execPath} ${bin} "$@"\n`);
  chmodSync(join(directory, 'bulk-enrich'), 0o755);
  const home = mkdtempSync(join(directory, 'home-'));
  chownSync(home, 0, 0);
  const script = new URL('../../jobs/postgres.sh', import.meta.url).pathname;
  const env = {
    PATH: `${directory}:${process.env.PATH}`,
    HOME: home,
    DATABASE_URL: url,
    BULK_ENRICH_ENDPOINT: 'embedded',
  };
  const {status, stderr} = spawnSync('bash', [script], {cwd: home, env, encoding: 'utf8'});
  expect({status, stderr: status === 0 ? '' : stderr}).toEqual({status: 0, stderr: ''});
}

import {mkdirSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import Database from 'libsql';
import {vi} from 'vitest';
import {enrich, runJob} from '../../src/index.ts';
import {KEY} from '../e2e/service.ts';
import {startApiServer} from '../support/api-server.ts';
import {reply} from '../support/api-server-reply.ts';
import {startRawServer} from '../support/raw-server.ts';
import {ips} from '../support/stage.ts';
import {
  accountFile,
  again,
  answered,
  by,
  type Cases,
  type End,
  type Place,
  RUN,
  spoilState,
  thrown,
  type Way,
} from './case.ts';

const settings = {ip: 'ip', store: false, score: 'none', rate: 'unlimited'} as const;

/** Errors that end a run after its beginning. */
export const endCases: Cases = {
  'credentials 6': answered(() => reply.unauthorized()),
  'credits 7': answered(() => reply.noCredits()),
  'budget 7': by(`${RUN} --max-credits 2`),
  'refused 2': answered(() => reply.error(422, 'unknown_account'), '', ips(20)),
  'wrong_protocol 2': place =>
    place.command(RUN, {env: {BULK_ENRICH_BASE_URL: place.service.url.replace('http:', 'https:')}}),
  'redirect 2': answered(() => reply.redirect('https://example.com/')),
  'outage 5': answered(() => reply.unavailable(3_600), '--max-outage 1s'),
  'deadline 5': answered(() => reply.ok({delayMs: 60}), '--until 100ms --concurrency 1'),
  'max_errors 4': answered(() => reply.error(422, 'no'), '--max-errors 0'),
  'fail_if 4': by(`${RUN} --fail-if rows.written>1`),
  'drift 4': async ({sandbox, command}) => {
    const job = 'name: nightly\ninput: list.csv\noutput: out.csv\nendpoint: live\nip: ip\ndrift: fail 10%\n';
    sandbox.write('job.yaml', job);
    const run = (list: string) => {
      sandbox.write('list.csv', list);
      return command('run --job job.yaml --force --rate unlimited');
    };
    await run(ips(50));
    return run(ips(3));
  },
  'declined 130': by(RUN, {}, {stdin: 'n\n', isTerminal: true}),
  'signal 130': async ({service, command}) => {
    service.setScript(() => void process.emit('SIGINT', 'SIGINT'));
    return command(`${RUN} --no-store --concurrency 1`);
  },
  'internal 1': async ({command}) => {
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => {
      throw new TypeError('a fault of the program');
    });
    try {
      return await command('runs');
    } finally {
      spy.mockRestore();
    }
  },
  'locked 11': thrown(async ({service, command}) => {
    let other: Promise<unknown> | undefined;
    service.setScript(async () => {
      const job = {input: 'list.csv', output: 'out.csv', ip: 'ip'};
      other ??= runJob(job, {env: service.env}).catch(error => error);
      await other;
      return undefined;
    });
    await command(RUN);
    throw await other;
  }),
  'aborted 130': thrown(async place => {
    for await (const _ of enrich([{ip: '192.0.2.1'}], settings, {
      ...library(place),
      signal: AbortSignal.abort(),
    }));
  }),
  'certificate 2': async ({command}) => {
    await using server = await startApiServer({key: KEY, tls: true});
    return await command(RUN, {env: {BULK_ENRICH_BASE_URL: server.url}});
  },
  'mixed_answers 2': async ({service, sandbox, command}) => {
    const one = reply.json({success: true, data: {is_valid: true, normalized_email: 'a@example.com'}});
    service.setScript(() => one);
    sandbox.write('mails.csv', 'email\na@example.com\nb@example.com\nc@example.com\nd@example.com\n');
    return await command('run mails.csv -o out.csv --email email --concurrency 1');
  },
  'proxy 2': async ({command}) => {
    await using proxy = await startRawServer(socket =>
      socket.end('HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n'),
    );
    const env = {BULK_ENRICH_BASE_URL: 'https://api.example.com', HTTPS_PROXY: proxy.url};
    return await command(RUN, {env});
  },
  'state_damaged 10': again(({path}) =>
    writeFileSync(path('out.csv.run/ledger.db'), 'no database'.repeat(999)),
  ),
  'state_version 10': again(({path}) => anotherVersion(path('out.csv.run/ledger.db'))),
  'state_of_other 10': again(() => {}, '--account other'),
  'publish_failed 9': place => blocked(place),
  'publish_lost 10': async place => {
    const partial = place.sandbox.path('out.csv.run/output.partial');
    place.service.setScript(() => void rmSync(partial, {force: true}));
    return place.command(RUN);
  },
};

/** Errors of the disk or its permissions. */
export const diskCases: Cases = {
  'no_directory 2': by(`${RUN} --summary no/summary.json`),
  'no_directory 9': by('run list.csv -o no/out.csv --ip ip'),
  'output_unwritable 9': by('init list.csv -o /proc/job.yaml'),
  'state_unwritable 9': by(RUN, {'out.csv.run': 'a file'}),
  'state_not_private 9': async ({sandbox, command}) => {
    mkdirSync(sandbox.path('state'));
    symlinkSync('state', sandbox.path('out.csv.run'));
    return command(RUN);
  },
  'store_unusable 9': by(`${RUN} --require-store --store list.csv`),
  'temporary_unwritable 9': async ({command}) => {
    // Node reads it from the process's own environment, which a command in this process has not.
    vi.stubEnv('TMPDIR', '/proc/none');
    try {
      return await command('run list.csv -o - --ip ip');
    } finally {
      vi.unstubAllEnvs();
    }
  },
  'history_unusable 9': noDirectory('runs', 'runs'),
  'daily_budget 9': spoilt('daily-credits.db', RUN, 'endpoint: URL\nmax_credits_per_day: 9\n'),
};

const library = ({service, sandbox}: Place) => ({env: {...service.env, HOME: sandbox.home}});

function spoilt(file: string, line: string, account?: string): Way {
  return place => {
    if (account !== undefined) accountFile(place, account);
    spoilState(place, file);
    return place.command(line);
  };
}

/** A command for which a file is in the place of a directory of the state. */
function noDirectory(name: string, line: string): Way {
  return place => {
    spoilState(place, '');
    writeFileSync(join(place.sandbox.home, 'state/bulk-enrich', name), '');
    return place.command(line);
  };
}

/** A run whose output has a directory in its place by the time it is done. */
function blocked({service, sandbox, command}: Place): Promise<End> {
  service.setScript(() => void mkdirSync(sandbox.path('out.csv/in/the/way'), {recursive: true}));
  return command(RUN);
}

function anotherVersion(path: string): void {
  const database = new Database(path);
  database.pragma('user_version = 9999');
  database.close();
}

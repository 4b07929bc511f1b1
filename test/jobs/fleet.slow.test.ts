import {readFileSync} from 'node:fs';
import {describe, expect, it} from 'vitest';
import {parse} from 'yaml';
import {exitCodes} from '../../src/errors.ts';
import {jobSchema} from '../../src/job/settings.ts';
import {runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {startRedis} from '../support/redis.ts';
import {manifestsOf, podsOf} from './manifests.ts';
import {createSite, type Site} from './site.ts';

const read = (name: string) => readFileSync(new URL(`../../jobs/fleet/${name}`, import.meta.url), 'utf8');

/** The relevant part of a container, or of a service in a Compose file. */
interface Container {
  readonly image: string;
  readonly command: readonly string[];
  /** Variables in the file itself, not in a Secret. */
  readonly env: Readonly<Record<string, string>>;
  readonly graceSeconds: number;
}

interface ComposeService {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly stop_grace_period?: string;
}

const compose = parse(read('compose.yaml'), {merge: true}) as {
  readonly services: Readonly<Record<string, ComposeService>>;
};
const manifests = manifestsOf('fleet/kubernetes.yaml');

/** Compose's `${NAME:-default}`, where nothing is set. */
const interpolated = (text: string) => text.replace(/\$\{\w+:-([^}]*)\}/g, '$1');

const composed: Container[] = Object.values(compose.services).map(service => ({
  image: service.image,
  command: service.command.map(interpolated),
  env: service.environment ?? {},
  graceSeconds: Number.parseInt(service.stop_grace_period ?? '10', 10),
}));

const deployed: Container[] = podsOf(manifests).flatMap(({spec}) =>
  spec.containers.map(({image, args, env = []}) => ({
    image,
    command: args,
    env: Object.fromEntries(env.flatMap(({name, value}) => (value === undefined ? [] : [[name, value]]))),
    graceSeconds: spec.terminationGracePeriodSeconds ?? 30,
  })),
);

const containers = [...composed, ...deployed];
const own = containers.filter(({command}) => command[0] === 'bulk-enrich');

const LIVE = {
  BULK_ENRICH_BASE_URL: 'https://api.example.com',
  BULK_ENRICH_API_KEY: 'no-key-that-works-anywhere',
};

/**
 * The secret that the Compose file's comments tell users to make: the embedded service has no key that could seal
 * anything.
 */
const SECRET = {BULK_ENRICH_API_KEY: 'a-secret-of-32-characters-or-more'};

/** A live endpoint is one that is never reached. */
const environmentOf = (command: readonly string[], redisUrl: string) => ({
  BULK_ENRICH_REDIS_URL: redisUrl,
  ...(command.includes('live') ? LIVE : SECRET),
});

/** Starts one of the files' commands where the lists and jobs are. */
function start(site: Site, command: readonly string[], redisUrl: string) {
  return site.start(command.slice(1), {env: environmentOf(command, redisUrl)});
}

function createFleetSite(): Site {
  const site = createSite();
  site.write('nightly-signups.yaml', site.read('jobs/nightly-signups.yaml'));
  site.write('signups.csv', site.read('samples/signups.csv'));
  return site;
}

it('each file has workers and a run', () => {
  const started = (all: Container[]) => all.map(({command}) => command.slice(0, 2).join(' '));
  const ours = ['bulk-enrich worker', 'bulk-enrich run'];
  expect(started(composed)).toEqual(['redis-server --maxmemory', ...ours]);
  expect(started(deployed)).toEqual(['redis-server /secrets/redis.conf', ...ours]);
});

it.each(own.map(({command}) => [command.join(' '), command] as const))(
  '%s gets as far as asking for its Redis',
  async (_, command) => {
    using site = createFleetSite();
    const env = environmentOf(command, 'redis://127.0.0.1:1');
    const {code, stderr} = await runHere(site, command.slice(1), {env});
    expect([code, stderr]).toEqual([exitCodes.temporary, expect.stringContaining("can't be reached")]);
  },
);

describe.skipIf(lacks('redis'))('with a Redis', () => {
  it("the Compose file's worker makes the calls of its run", async () => {
    await using redis = await startRedis();
    using site = createFleetSite();
    const [worker, run] = composed.filter(({command}) => command[0] === 'bulk-enrich');
    const anyPort = (worker?.command ?? []).map(word => word.replace('0.0.0.0:9464', '127.0.0.1:0'));
    const working = start(site, anyPort, redis.url);
    const running = start(site, run?.command ?? [], redis.url);
    try {
      const {code, stderr} = await Promise.race([running.outcome, working.outcome]);
      expect([code, stderr]).toEqual([exitCodes.ok, expect.stringContaining('20 rows written')]);
      working.kill('SIGTERM');
      expect((await working.outcome).code).toBe(exitCodes.ok);
    } finally {
      for (const command of [working, running]) command.kill('SIGKILL');
    }
  });
});

it('Redis evicts nothing', () => {
  const commands = containers
    .filter(({image}) => image.startsWith('redis'))
    .map(({command}) => command.join(' '));
  expect(commands).toEqual(Array(2).fill(expect.stringContaining('--maxmemory-policy noeviction')));
});

it('workers have longer to stop than a call may take', () => {
  const workers = own.filter(({command}) => command[1] === 'worker');
  const {timeout} = jobSchema.parse({input: []});
  expect(workers.map(({graceSeconds}) => graceSeconds * 1_000 > timeout)).toEqual([true, true]);
});

it('no secret stands in an argument or in the files: they come from a Secret or an env file', () => {
  expect(containers.flatMap(({command}) => command).filter(word => /:\/\/|pass|key/i.test(word))).toEqual([]);
  for (const {env} of containers) {
    expect(env).not.toHaveProperty('BULK_ENRICH_API_KEY');
    for (const value of Object.values(env)) expect(value).not.toMatch(/:\/\/.*@/);
  }
  expect(manifests.map(({kind}) => kind)).not.toContain('Secret');
});

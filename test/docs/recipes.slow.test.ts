import {execFile} from 'node:child_process';
import {once} from 'node:events';
import {gzipSync} from 'node:zlib';
import {beforeAll, describe, expect, test} from 'vitest';
import {type Service, startService} from '../e2e/service.ts';
import {createSite, type Site} from '../jobs/site.ts';
import {environmentOf} from '../support/command.ts';
import {runHere} from '../support/main.ts';
import {blocksOf, textOf} from './blocks.ts';

const [, ...recipes] = textOf('docs/recipes.md').split(/^## /m);

/** The lists that the recipes speak of. */
function writeLists(site: Site): void {
  const ips = 'id,ip\n1,192.0.2.1\n2,192.0.2.2\n3,192.0.2.1\n';
  site.write('signups.csv', ips);
  site.write('signups.csv.gz', gzipSync(ips));
  site.write('today.csv', `${ips}4,192.0.2.3\n`);
  site.write('broken.csv', `${ips}4,192.0.2.4,one,two\n`);
  site.write('people.csv', 'ip,phone\n192.0.2.1,(202) 555-0100\n192.0.2.2,(202) 555-0101\n');
  site.write('events.ndjson', '{"user":{"id":"u_1"},"ip":"192.0.2.1"}\n');
  const contact =
    'Record ID,Email,Phone Number,Country/Region\n1,somebody@example.com,(202) 555-0100,United States\n';
  site.write('hubspot.csv', contact);
}

async function shell(site: Site, {env}: Service, script: string): Promise<{code: unknown; printed: string}> {
  const PATH = `${site.programs}:${process.env.PATH ?? ''}`;
  // Removes the surplus fields of a row, as a reader would by hand.
  const EDITOR = 'sed -i s/,one,two$//';
  const options = {cwd: site.directory, env: {...environmentOf(site.home), ...env, PATH, EDITOR}};
  let printed = '';
  const child = execFile('bash', ['-euo', 'pipefail', '-c', script], options, (_, out, err) => {
    printed = out + err;
  });
  const [code] = await once(child, 'close');
  return {code, printed};
}

/** The words of each command; undefined where the script is more than commands one after the other. */
function commandsOf(script: string): readonly (readonly string[])[] | undefined {
  const lines = script.trimEnd().split('\n');
  if (!lines.every(line => /^bulk-enrich [^|<>$&;#]+$/.test(line))) return undefined;
  return lines.map(line => [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word));
}

/** In this process where it can be: the shell is there for the recipes that need one. */
async function follow(site: Site, service: Service, script: string): ReturnType<typeof shell> {
  const commands = commandsOf(script);
  if (commands === undefined) return await shell(site, service, script);
  let printed = '';
  for (const [, ...args] of commands) {
    const {code, stdout, stderr} = await runHere(site, args, {env: service.env});
    printed += stdout + stderr;
    if (code !== 0) return {code, printed};
  }
  return {code: 0, printed};
}

// The database has a test of its own, in test/jobs.
const runnable = recipes.filter(recipe => !recipe.startsWith('Enrich a database'));

test('there are ten recipes at least, each with its commands', () => {
  expect(runnable.length).toBeGreaterThanOrEqual(10);
  for (const recipe of recipes) expect(blocksOf(recipe, 'sh'), recipe).toHaveLength(1);
});

describe.concurrent('works as it stands:', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
    return () => service.close();
  });

  test.each(runnable.map(recipe => [recipe.split('\n')[0] ?? '', recipe]))('%s', async (_, recipe) => {
    using site = createSite();
    writeLists(site);
    const [job = ''] = blocksOf(recipe, 'yaml');
    site.write('people.yaml', job);
    const [script = ''] = blocksOf(recipe, 'sh');
    const {code, printed} = await follow(site, service, script);
    expect([code, code === 0 ? '' : printed], recipe).toEqual([0, '']);
  });
});

import {execFileSync} from 'node:child_process';
import {mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {parse, parseAllDocuments} from 'yaml';
import {KEY} from '../e2e/service.ts';
import type {Place} from './confinement.ts';
import {cronEnv, gitHubEnv} from './environments.ts';
import type {Site} from './site.ts';

/** A command line as a scheduler starts it, and where. */
export type Line = Place & {readonly command: string};

/** The example's places and addresses in a test. */
type Places = Readonly<Record<string, string>>;

/** The job that the examples run, gone live as its comment says. */
export function setUpLive(site: Site, job: string, name: string): void {
  const text = site.read(job);
  const live = text.replace(/^endpoint: embedded$/m, 'endpoint: live');
  if (live === text) throw new Error(`${job} does not ask the embedded service`);
  site.write(name, live);
}

/** The user of the command may read it. */
function keyFile(site: Site): string {
  return site.write('../key', `${KEY}\n`);
}

const read = (name: string) => readFileSync(new URL(`../../jobs/schedule/${name}`, import.meta.url), 'utf8');

function replaced(text: string, places: Places): string {
  return Object.entries(places).reduce((done, [from, to]) => done.replaceAll(from, to), text);
}

/** Lines of a crontab in cron's environment, with the variables that it sets; the home directory is where cron is. */
export function crontabLines(site: Site, url: string): Line[] {
  const text = replaced(read('crontab'), {
    '/usr/local/bin': site.programs,
    '/srv/signups': site.directory,
    'https://api.example.com': url,
    '/etc/bulk-enrich/key': keyFile(site),
  });
  const env: Record<string, string> = {...cronEnv(site), PATH: '/usr/bin:/bin'};
  for (const [, name = '', value = ''] of text.matchAll(/^(\w+)=(.*)$/gm)) env[name] = value;
  return [...text.matchAll(/^(?:(?:[\d*]+\s+){5}|@reboot\s+)(.*)$/gm)].map(([, command = '']) => ({
    command,
    env,
    cwd: site.home,
  }));
}

/** The unit's command; it can write the places that the unit names despite `ProtectSystem=strict`. */
export function systemdLine(site: Site, url: string): Line {
  const [cache, state] = [`${site.root}/cache`, `${site.root}/state`];
  const text = replaced(read('bulk-enrich.service'), {
    '/usr/local/bin': site.programs,
    '/srv/signups': site.directory,
    '/var/cache': cache,
    '/var/lib': state,
    '%d/key': keyFile(site),
    'https://api.example.com': url,
  });
  const all = (name: string) =>
    [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gm'))].map(([, to = '']) => to);
  const directories = [
    ...all('CacheDirectory').map(to => `${cache}/${to}`),
    ...all('StateDirectory').map(to => `${state}/${to}`),
  ];
  // The unit's own /tmp.
  const temporary = `${site.root}/temporary`;
  const own = text.includes('PrivateTmp=true') ? [temporary] : [];
  for (const path of [...directories, ...own]) mkdirSync(path, {recursive: true});
  const command = (all('ExecStart')[0] ?? '').replace(' $MORE', '');
  const variables = all('Environment')
    .flatMap(line => line.split(' '))
    .map(pair => pair.split(/=(.*)/s).slice(0, 2));
  return {
    command,
    cwd: all('WorkingDirectory')[0] ?? '/',
    env: {...cronEnv(site), USER: 'bulk-enrich', TMPDIR: temporary, ...Object.fromEntries(variables)},
    writable: [...all('ReadWritePaths'), ...directories, ...own],
  };
}

/**
 * The workflow's step that runs the package, in a checkout where it is installed, after the one that writes the key.
 * Without an address, the repository has neither variables nor secrets.
 */
export function workflowLine(site: Site, url: string | undefined): Line {
  mkdirSync(site.path('node_modules/.bin'), {recursive: true});
  symlinkSync(`${site.programs}/bulk-enrich`, site.path('node_modules/.bin/bulk-enrich'));
  const text = replaced(read('github-actions.yaml'), {
    // biome-ignore-start lint/suspicious/noTemplateCurlyInString: GitHub's expressions.
    '${{ vars.BULK_ENRICH_BASE_URL }}': url ?? "''",
    '${{ secrets.BULK_ENRICH_API_KEY }}': url === undefined ? "''" : KEY,
    '${{ runner.temp }}': site.root,
    '${{ github.workspace }}': site.directory,
    // biome-ignore-end lint/suspicious/noTemplateCurlyInString: as above.
  });
  const steps = parse(text).jobs.enrich.steps as {run?: string; env?: Record<string, string>}[];
  const step = steps.find(({run}) => run?.includes('bulk-enrich'));
  const writing = steps.find(({env}) => env?.KEY !== undefined);
  const env = {RUNNER_TEMP: site.root, ...writing?.env};
  execFileSync('bash', ['-c', writing?.run ?? 'false'], {env, stdio: 'ignore'});
  const PATH = `${cronEnv(site).PATH}:${process.env.PATH}`;
  return {command: step?.run ?? '', env: {HOME: site.home, PATH, ...gitHubEnv(site), ...step?.env}};
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

/** The container's command, as its user, on its volumes; container engines set HOME for a user that has none to `/`. */
export function podLine(site: Site, url: string): Line {
  const text = read('kubernetes-cronjob.yaml');
  const podOf = (manifests: string) =>
    parseAllDocuments(manifests)
      .map(document => document.toJS())
      .find(({kind}) => kind === 'CronJob').spec.jobTemplate.spec.template.spec;
  const pod = podOf(text);
  const uid: number = pod.securityContext.runAsUser;
  const temporary = `${site.root}/temporary`;
  mkdirSync(temporary);
  const places = {
    'https://api.example.com': url,
    '/secrets/key': keyFile(site),
    '/data': site.directory,
    '/jobs': site.directory,
  };
  const container = podOf(replaced(text, places)).containers[0];
  const variables = container.env.map(({name, value}: {name: string; value: string}) => [name, value]);
  return {
    command: [...container.command, ...container.args].map(quoted).join(' '),
    cwd: container.workingDir,
    env: {PATH: cronEnv(site).PATH ?? '', HOME: '/', TMPDIR: temporary, ...Object.fromEntries(variables)},
    uid,
    writable: [site.directory, temporary],
  };
}

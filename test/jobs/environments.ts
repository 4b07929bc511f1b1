import type {CommandOutcome} from '../support/command.ts';
import {lacks} from '../support/real-parts.ts';
import {openTerminal} from '../support/terminal.ts';
import {canBeAnother, type Place, readOnlyBy, runIn, UNKNOWN_USER} from './confinement.ts';
import type {Site} from './site.ts';

type Env = Readonly<Record<string, string>>;

/** One of the ways in which people run a job. */
export interface Environment {
  readonly name: string;
  /** Why it can't be had on this machine; undefined where it can. */
  readonly missing?: string | undefined;
  /** The warning expected there. */
  readonly warning?: RegExp;
  /** Undefined for a terminal. */
  readonly place?: (site: Site) => Place;
}

/** Runs a shell's command line in the site's directory. What a terminal shows counts as stderr. */
export function runAt({place}: Environment, site: Site, command: string): Promise<CommandOutcome> {
  return place === undefined ? atTerminal(site, command) : runIn(site, command, place(site));
}

const NOTHING_KEPT = /^Warning: This run continues without (the answer store and )?the job's earlier runs: /;

export const environments: readonly Environment[] = [
  {name: 'from cron: a bare environment, nobody at stdin', place: site => ({env: cronEnv(site)})},
  {name: 'in a CI runner: CI=true, no terminal', place: site => ({env: {...userEnv(site), CI: 'true'}})},
  {name: 'in GitHub Actions', place: site => ({env: {...userEnv(site), ...gitHubEnv(site)}})},
  {
    name: 'at a terminal',
    missing: lacks('script') ? "there is no util-linux' script to open one" : undefined,
  },
  {
    name: 'without a home directory',
    warning: NOTHING_KEPT,
    place: site => ({env: {HOME: '/nonexistent', PATH: pathOf(site)}}),
  },
  {
    name: 'as a user that the system does not know, without HOME',
    missing: canBeAnother ? undefined : 'this user can not become another',
    warning: NOTHING_KEPT,
    place: site => ({env: {PATH: pathOf(site)}, uid: UNKNOWN_USER}),
  },
  {
    name: `where only the output's directory can be written (by ${readOnlyBy ?? 'nothing'})`,
    missing: readOnlyBy === undefined ? 'nothing keeps this user from writing' : undefined,
    warning: NOTHING_KEPT,
    place: site => ({env: userEnv(site), writable: [site.directory]}),
  },
];

const pathOf = (site: Site) => `${site.programs}:/usr/bin:/bin`;

const userEnv = (site: Site): Env => ({HOME: site.home, PATH: pathOf(site)});

/** All that cron sets, with the PATH that the crontab names. */
export const cronEnv = (site: Site): Env => ({...userEnv(site), LOGNAME: 'somebody', SHELL: '/bin/sh'});

export const gitHubEnv = (site: Site): Env => ({
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_STEP_SUMMARY: site.path('../step-summary.md'),
});

async function atTerminal(site: Site, command: string): Promise<CommandOutcome> {
  const {ended, screen} = openTerminal(command, {cwd: site.directory, env: userEnv(site), columns: 200});
  const code = await ended;
  return {code, signal: undefined, stdout: '', stderr: screen.lines.join('\n')};
}

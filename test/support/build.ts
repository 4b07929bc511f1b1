import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {MISSING_PARTS, partsNotRun} from './real-parts.ts';

/**
 * True for a variable that steers the command, or its connections: who runs the tests has them for other work. The
 * contract's suite is given its service and key by two of them.
 */
export function isOwnSetting(name: string): boolean {
  const isContract = process.env.CONTRACT_URL !== undefined && name === 'BULK_ENRICH_API_KEY';
  return (
    !isContract && /^(BULK_ENRICH_|XDG_|GITHUB_|((https?|all|no)_proxy)$|NODE_EXTRA_CA_CERTS$)/i.test(name)
  );
}

/**
 * The end-to-end tests start the built command, so the build has to be of the sources under test. What runs keep for their
 * user goes to a directory that is gone afterwards: who runs the tests has runs, answers and settings of their own.
 */
export function setup(): () => void {
  for (const name of Object.keys(process.env).filter(isOwnSetting)) delete process.env[name];
  const home = mkdtempSync(join(tmpdir(), 'bulk-enrich-home-'));
  for (const kind of ['CACHE', 'CONFIG', 'STATE']) process.env[`XDG_${kind}_HOME`] = join(home, kind);
  // A build may wait for a file that `npm run schema` writes from the sources.
  if (process.env.UNBUILT === undefined)
    execFileSync(process.execPath, ['scripts/build.mjs', '--if-changed'], {stdio: 'inherit'});
  const missing = join(home, 'missing-parts');
  process.env[MISSING_PARTS] = missing;
  return () => {
    process.stdout.write(partsNotRun(missing));
    rmSync(home, {recursive: true, force: true});
  };
}

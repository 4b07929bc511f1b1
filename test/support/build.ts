import {execFileSync} from 'node:child_process';
import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {MISSING_PARTS, partsNotRun} from './real-parts.ts';

/**
 * The end-to-end tests start the built command, so the build has to be of the sources under test. What runs keep for their
 * user goes to a directory that is gone afterwards: who runs the tests has runs and answers of their own.
 */
export function setup(): () => void {
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

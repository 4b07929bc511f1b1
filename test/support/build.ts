import {execFileSync} from 'node:child_process';

/** The end-to-end tests start the built command, so the build has to be of the sources under test. */
export function setup(): void {
  // What is written from the sources, by `npm run schema`, may be what a build waits for; and `.ci/nodes` has built.
  if (process.env.UNBUILT !== undefined) return;
  execFileSync('npm', ['run', '--silent', 'build'], {stdio: 'inherit'});
}

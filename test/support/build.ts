import {execFileSync} from 'node:child_process';

/**
 * The end-to-end tests start the built command, so the build has to be of the sources under test. Whoever has just built
 * them says so by TEST_BUILT.
 */
export function setup(): void {
  if (process.env.TEST_BUILT !== undefined) return;
  execFileSync('npm', ['run', '--silent', 'build'], {stdio: 'inherit'});
}

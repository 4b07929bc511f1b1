import {execFileSync} from 'node:child_process';

/** The end-to-end tests start the built command, so the build has to be of the sources under test. */
export function setup(): void {
  execFileSync('npm', ['run', '--silent', 'build'], {stdio: 'inherit'});
}

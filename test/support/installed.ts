import {execFileSync} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync, symlinkSync} from 'node:fs';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';
import {createSandbox, type Sandbox} from './command.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The directories of the packages that npm installs with this one. */
function shippedPackages(): string[] {
  const {packages} = JSON.parse(readFileSync(`${root}package-lock.json`, 'utf8')) as {
    packages: Record<string, {dev?: boolean}>;
  };
  return Object.keys(packages).filter(path => path !== '' && packages[path]?.dev !== true);
}

/** An empty project in which the packed package is installed, with the packages that npm installs with it, or with these. */
export function installed(packages = shippedPackages()): Sandbox {
  const sandbox = createSandbox();
  const within = sandbox.path('node_modules/bulk-enrich');
  mkdirSync(within, {recursive: true});
  const pack = ['pack', '--ignore-scripts', '--silent', '--pack-destination', sandbox.directory];
  const archive = execFileSync('npm', pack, {cwd: root, encoding: 'utf8'}).trim();
  execFileSync('tar', ['-xzf', sandbox.path(archive), '-C', within, '--strip-components=1']);
  // The types of Node and the compiler are the user's own.
  const own = ['@types/node', 'undici-types', 'typescript', '.bin/tsc'].map(name => `node_modules/${name}`);
  for (const path of [...packages, ...own]) {
    // A package for another platform is not there, and one within another comes with that.
    if (!existsSync(`${root}${path}`) || path.lastIndexOf('node_modules/') > 0) continue;
    mkdirSync(dirname(sandbox.path(path)), {recursive: true});
    symlinkSync(`${root}${path}`, sandbox.path(path));
  }
  sandbox.write('package.json', '{"type": "module"}');
  return sandbox;
}

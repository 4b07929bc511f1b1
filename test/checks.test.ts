import {execFile} from 'node:child_process';
import {fileURLToPath} from 'node:url';
import {describe, expect, test} from 'vitest';

const cwd = fileURLToPath(new URL('..', import.meta.url));

/** The compiler has memory enough: collecting garbage takes it a third of its time. */
const env = {...process.env, GOGC: 'off'};

/** How a script of package.json ended, and what it said if not well. */
function ended(script: string): Promise<readonly [code: unknown, said: string]> {
  return new Promise(resolve =>
    execFile('npm', ['run', '--silent', script], {cwd, env, maxBuffer: 1e8}, (error, out, err) =>
      resolve([error?.code ?? error?.signal ?? 0, error === null ? '' : `${out}${err}`]),
    ),
  );
}

// Beside the tests, which mostly wait: one after the other before them, they took a sixth of the time.
describe.concurrent('of all sources, npm run', () => {
  test.each(['lint', 'types', 'unused'])('%s finds nothing', {timeout: 300_000, retry: 0}, async script => {
    const [code, said] = await ended(script);
    expect(code, said).toBe(0);
  });
});

import {execFileSync, spawn} from 'node:child_process';
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {Screen} from './screen.ts';

export interface TerminalOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** 0: a terminal that does not say how wide it is. */
  readonly columns?: number;
}

/** How wide a screen is whose terminal does not say. */
const SCREEN_COLUMNS = 80;

/** A shell's command line at a terminal of its own. */
export function openTerminal(command: string, {cwd, env, columns = 80}: TerminalOptions) {
  // Path of the terminal, so that a test can resize it.
  const place = join(cwd, '..', 'tty');
  const line = `stty cols ${columns} rows 24; tty > '${place}'; ${command}`;
  const child = spawn('script', ['-qefc', line, '/dev/null'], {
    cwd,
    env: {SHELL: '/bin/sh', TERM: 'xterm-256color', ...env},
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const screen = new Screen(columns || SCREEN_COLUMNS);
  const chunks: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    chunks.push(text);
    screen.write(text);
  });
  return {
    child,
    /** Everything that was written, escape sequences and all. */
    get written() {
      return chunks.join('');
    },
    screen,
    type: (keys: string) => child.stdin.write(keys),
    resize(wanted: number) {
      execFileSync('stty', ['-F', readFileSync(place, 'utf8').trim(), 'cols', String(wanted)]);
      screen.columns = wanted;
    },
    /** The exit code, once the command has ended. */
    ended: new Promise<number | undefined>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', code => resolve(code ?? undefined));
    }),
  };
}

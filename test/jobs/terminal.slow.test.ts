import {execFileSync} from 'node:child_process';
import {createWriteStream, readdirSync, rmSync} from 'node:fs';
import {describe, expect, test} from 'vitest';
import {type Service, startService} from '../e2e/service.ts';
import {held, runHere} from '../support/main.ts';
import {lacks} from '../support/real-parts.ts';
import {ips} from '../support/stage.ts';
import {openTerminal, type TerminalOptions} from '../support/terminal.ts';
import {until} from '../support/until.ts';
import {createSite, type Site} from './site.ts';

const ESCAPE = '\u001B';
const GREEN = [`${ESCAPE}[32m`, `${ESCAPE}[39m`];
const ASKED = 24;
const COMMAND = 'bulk-enrich run list.csv --ip ip --concurrency 4 --rate 200/s --force --no-store --yes';

type Scene = ReturnType<typeof sceneOf>;

function sceneOf(service: Service, site: Site) {
  const env = {HOME: site.home, PATH: `${site.programs}:/usr/bin:/bin`, ...service.env};
  const open = (command: string, {columns = 120, env: more}: Partial<TerminalOptions> = {}) =>
    openTerminal(command, {cwd: site.directory, columns, env: {...env, ...more}});
  /** Holds all calls from the n-th on, until they are let go: time for the bar to be redrawn. */
  const hold = (from: number) => {
    const {gate, letGo} = held();
    service.setScript(({call}) => (call >= from ? gate : undefined));
    return letGo;
  };
  return {site, service, env, open, hold};
}

async function withScene(work: (scene: Scene) => Promise<void>): Promise<void> {
  await using service = await startService();
  using site = createSite();
  site.write('list.csv', ips(ASKED));
  await work(sceneOf(service, site));
}

const untimed = (text: string) => text.trimEnd().replace(/ in \d+(\.\d+)? m?s\.$/m, ' in no time.');

/** The command's output without a terminal. */
async function plain({site, env}: Scene, command: string): Promise<string> {
  const {code, stdout, stderr} = await runHere(site, command.split(' ').slice(1), {env});
  expect([code, stdout]).toEqual([0, '']);
  expect(stderr).not.toContain(ESCAPE);
  return untimed(stderr);
}

describe.skipIf(lacks('script'))('at a pseudo-terminal', () => {
  test('the bar is redrawn, fits as the terminal narrows, and leaves the same lines as elsewhere', () =>
    withScene(async scene => {
      const begin = scene.hold(1);
      // Rows that cost nothing come first: they are no share of what takes the time.
      const [header, value, ...others] = ips(ASKED).trimEnd().split('\n');
      scene.site.write('list.csv', [header, ...Array(ASKED).fill(value), ...others, ''].join('\n'));
      const terminal = scene.open(COMMAND);
      const {screen} = terminal;
      /** The next bar that is like this; those before it may be of a moment ago. */
      const drawn = async (isIt: (bar: string) => boolean) => {
        const from = screen.erased.length;
        await until(() => screen.erased.slice(from).some(isIt));
        return screen.erased.slice(from).find(isIt);
      };
      const first = await drawn(bar => bar.includes('0% of calls'));
      const letGo = scene.hold(18);
      begin();
      await drawn(bar => bar.includes(' 40 rows '));
      terminal.resize(50);
      // Not what was left of a long one, which the narrower terminal has broken in two.
      const narrow = await drawn(bar => bar.length < 50 && /^\d/.test(bar));
      terminal.resize(120);
      const last = await drawn(bar => bar.length > 50);
      letGo();
      expect(await terminal.ended).toBe(0);

      // Before anything else is known, at once.
      expect(screen.erased[0]).toBe('Starting …');
      expect(first).toBe('░░░░░░░░░░░░░░░░░░░░ 0% of calls · 0 rows · 0 credits · 0 calls/s');
      expect(last).toMatch(/^█{14}░{6} 70% of calls · 40 rows · \d+ credits · \d+ calls\/s · about /);
      expect(narrow?.length).toBeLessThan(50);
      expect(narrow).toMatch(/^70% · .* · about .* left$/);
      expect(untimed(screen.lines.join('\n'))).toBe(await plain(scene, COMMAND));
      expect(screen.colours).toEqual(GREEN);
    }));

  test('NO_COLOR takes the colours, not the bar; a terminal that does not say how wide it is has 80 columns', () =>
    withScene(async ({open, hold}) => {
      const letGo = hold(18);
      const {ended, screen} = open(COMMAND, {columns: 0, env: {NO_COLOR: '1'}});
      await until(() => screen.erased.length > 2);
      letGo();
      expect(await ended).toBe(0);
      for (const bar of screen.erased.slice(1)) {
        expect(bar).toMatch(/^[█░]+ \d+%( of calls)? · /);
        expect(bar.length).toBeLessThan(80);
      }
      expect(screen.lines.join('\n')).not.toMatch(/[█░]/);
      expect(screen.colours).toEqual([]);
    }));

  test.each([
    ['TERM=dumb', {TERM: 'dumb'}, []],
    ['CI=true', {CI: 'true'}, GREEN],
  ])('%s: plain lines, no bar', (_, env, colours) =>
    withScene(async scene => {
      const {ended, screen} = scene.open(COMMAND, {env});
      expect(await ended).toBe(0);
      expect([screen.erased, screen.colours]).toEqual([[], colours]);
      expect(untimed(screen.lines.join('\n'))).toBe(await plain(scene, COMMAND));
    }),
  );

  test('without a limit, the run asks before the first spend and shows the cost', () =>
    withScene(async ({site, service, open}) => {
      const answered = async (keys: string, list = 'list.csv --ip ip') => {
        const {type, ended, screen} = open(`bulk-enrich run ${list} --force`, {env: {TERM: 'dumb'}});
        if (keys !== '') await until(() => screen.lines.some(line => line.includes('Continue? [y/N]')));
        type(keys);
        return {code: await ended, shown: screen.lines.join('\n')};
      };
      const no = await answered('\n');
      expect([no.code, service.ledger.requests]).toEqual([130, 0]);
      expect(no.shown).toMatch(
        /^Looking up ip\.\n24 calls, 24 credits \(72 at worst\), about 1 s at 20\/s\. Continue\? \[y\/N\]/,
      );
      expect(no.shown).toMatch(/^Cancelled\. Nothing was sent\.$/m);
      expect(readdirSync(site.directory).filter(name => name.startsWith('list'))).toEqual(['list.csv']);
      expect([(await answered('yes\n')).code, service.ledger.requests]).toEqual([0, ASKED]);
      site.write('staff.csv', ['ip,support_email', ...Array(9).fill('8.8.8.8,s@example.com'), ''].join('\n'));
      const {shown} = await answered('yes\n', 'staff.csv');
      expect(shown).toMatch(/^Warning: Not looked up[^?]*^Looking up ip\.\n1 call, 1 credit .*Continue\?/m);
      expect(shown.match(/Not looked up/g)).toHaveLength(1);
      // With nothing left to pay for there is nothing to ask.
      expect([(await answered('')).code, service.ledger.requests]).toEqual([0, ASKED + 1]);
    }));

  test('slow steps without calls show progress: counting, and catching up', () =>
    withScene(async ({site, env, open}) => {
      // Wide rows: what is looked at before the first of them is delivered is less than half of all.
      const rows = ips(ASKED)
        .trimEnd()
        .split('\n')
        .slice(1)
        .map(ip => `${ip},${'-'.repeat(100)}`);
      const before = Array.from({length: 3_000}, (_, i) => rows[i % 20]);
      const text = ['ip,note', ...before, ...rows, ''].join('\n');
      const run = 'bulk-enrich run - -o out.csv --ip ip --no-store --rate 200/s --max-credits';
      const stopped = await runHere(site, [...run.split(' ').slice(1), '22'], {env, stdin: text});
      expect(stopped.code).toBe(7);
      const shown = async (command: string, bar: RegExp) => {
        execFileSync('mkfifo', [site.path('fifo')]);
        const {screen, ended} = open(`${command} < fifo`);
        const pipe = createWriteStream(site.path('fifo'));
        pipe.write(text.slice(0, 200_000));
        await until(() => screen.erased.some(shown => bar.test(shown)));
        pipe.end(text.slice(200_000));
        expect(await ended).toBe(0);
        rmSync(site.path('fifo'));
        return screen;
      };
      await shown('bulk-enrich plan - --ip ip', /^counting · 1,\d+ rows$/);
      const again = await shown(`${run} 100`, /^catching up/);
      expect(again.lines).toContain('3,024 rows written to out.csv.');
    }));

  test('log lines do not run into the bar', () =>
    withScene(async ({open, hold}) => {
      const letGo = hold(18);
      const {ended, screen} = open(`${COMMAND} --log trace`, {columns: 2_000});
      await until(() => screen.erased.length > 2);
      letGo();
      expect(await ended).toBe(0);
      const logged = screen.lines.filter(line => line.includes('{"level"'));
      expect(logged.length).toBeGreaterThan(ASKED);
      for (const line of logged) expect(JSON.parse(line)).toHaveProperty('msg');
    }));

  test('Ctrl-C: the run stops with its state saved, and the command that it names resumes it', () =>
    withScene(async ({service, open, hold}) => {
      const letGo = hold(10);
      const {type, ended, screen} = open(COMMAND.replace(' --force', ''), {columns: 200});
      await until(() => service.ledger.calls >= 13);
      type('\u0003');
      await until(() => screen.lines.some(line => line.startsWith('Stopping: ')));
      letGo();
      expect(await ended).toBe(130);
      expect(service.ledger.calls).toBe(13);
      const said = screen.lines.filter(line => line !== '');
      expect(said.join('\n')).not.toMatch(/[█░]/);
      const [stopped, cost, safe, next = ''] = said.slice(-4);
      expect(cost).toMatch(/^13 credits spent\. 13 calls in /);
      expect(stopped).toBe('Stopped: Interrupted by SIGINT.');
      expect(safe).toMatch(/^Safe: every answer paid for/);
      expect(next).toMatch(/^To continue: bulk-enrich run list\.csv /);

      const again = open(next.slice('To continue: '.length));
      expect(await again.ended).toBe(0);
      expect(again.screen.lines).toContain(`${ASKED} rows written to list.enriched.csv.`);
      expect([service.ledger.calls, service.ledger.repeated()]).toEqual([ASKED, []]);
    }));

  test('Ctrl-C twice: the run ends at once, and leaves no bar behind for the prompt', () =>
    withScene(async ({service, open, hold}) => {
      const letGo = hold(10);
      const {type, ended, screen} = open(COMMAND);
      await until(() => service.ledger.calls >= 13);
      type('\u0003');
      await until(() => screen.lines.some(line => line.startsWith('Stopping: ')));
      const drawn = screen.erased.length;
      await until(() => screen.erased.length > drawn);
      type('\u0003');
      expect(await ended).toBe(130);
      letGo();
      expect(screen.lines.at(-1)).toBe('');
      expect(screen.lines.join('\n')).not.toMatch(/[█░]/);
    }));

  test('mistakes, warnings and stops are marked in colour, by their first word', () =>
    withScene(async ({open}) => {
      const mistake = open('bulk-enrich run nothing.csv');
      expect(await mistake.ended).toBe(8);
      expect(mistake.written).toMatch(/\[31mError:.\[39m The file [^\r]+\r\n$/);
      const command = 'bulk-enrich run list.csv --ip ip --max-credits 3';
      const stopped = open(command, {env: {HOME: '/nonexistent'}});
      expect(await stopped.ended).toBe(7);
      expect(stopped.written).toContain(`${ESCAPE}[33mWarning:${ESCAPE}[39m This run continues without`);
      expect(stopped.written).toContain(`${ESCAPE}[31mStopped:${ESCAPE}[39m The credit limit`);
    }));
});

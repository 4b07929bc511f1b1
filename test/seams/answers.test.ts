import {afterEach, describe, expect, test, vi} from 'vitest';
import type {Call} from '../support/api-core.ts';
import {type Reply, reply} from '../support/api-server-reply.ts';
import {openArena} from '../support/crash.ts';
import {runHere} from '../support/main.ts';
import {rowsOf} from './program.ts';

/** The command against a service whose answers say nothing, or are of other values. The service counts its calls. */

type Script = (call: Call) => Reply | undefined;
const data = (given: unknown) => reply.json({success: true, data: given});
const values = (from: number, to: number) =>
  Array.from({length: to - from}, (_, n) => `u${from + n}@example.com`);

/** A list whose runs are nights, by a clock of their own, on one home. */
async function openNights() {
  const arena = await openArena();
  const {api, sandbox, env} = arena;
  const today = Date.now();
  return {
    ...arena,
    /** A run at this hour. Returns how it ended, and what the service counted for it. */
    async run(hour: number, list: readonly string[], script?: Script, ...flags: readonly string[]) {
      api.setScript(script);
      const before = api.ledger.calls;
      sandbox.write('list.csv', `email\n${list.join('\n')}\n`);
      vi.useFakeTimers({now: today + hour * 3_600_000, toFake: ['Date']});
      const line = `run list.csv -o out${hour}.csv --email email --rate unlimited --concurrency 1`;
      const {code, stderr} = await runHere(sandbox, [...line.split(' '), ...flags], {env});
      const summary = sandbox.summary(`out${hour}.summary.json`);
      const rows = code === 0 || code === 3 ? rowsOf(sandbox.read(`out${hour}.csv`)) : [];
      return {code, stderr, summary, rows, calls: api.ledger.calls - before};
    },
    stored: async () =>
      JSON.parse((await runHere(sandbox, 'store stats --json')).stdout).answers[0]?.answers ?? 0,
  };
}

afterEach(() => {
  vi.useRealTimers();
});

const NOTHING: Readonly<Record<string, readonly [() => unknown, RegExp]>> = {
  'no field at all': [() => ({}), /no known field has a value/],
  'null in each field': [() => ({is_valid: null, domain: null}), /no known field/],
  'fields of other names': [() => ({isVpn: true, email: {is_valid: true}}), /unknown: isVpn, email/],
  'fields of wrong types': [
    () => ({is_valid: 'no', trust_score: []}),
    /of a wrong type: is_valid, trust_score/,
  ],
  'an empty text': [() => ({is_valid: undefined, country: ''}), /unknown: country/],
  'what the request had': [() => ({domain: 'example.com', user_id: 'x'}), /unknown: user_id/],
  'names that may be values': [() => ({'jo@example.org': {ok: true}}), /unknown: 1 more/],
};

describe('an answer that says nothing', () => {
  test.each(Object.entries(NOTHING))(
    '%s: the first ten stop the run, and nothing is kept',
    async (_, [of, told]) => {
      await using nights = await openNights();
      const {code, stderr, calls, summary} = await nights.run(0, values(0, 200), () => data(of()));
      expect([code, calls, summary.reason]).toEqual([2, 10, 'refused']);
      expect(stderr).toMatch(told);
      expect(stderr).toContain('bad_response');
      expect(await nights.stored()).toBe(0);
      expect(nights.api.ledger.credits).toBe(summary.credits.spent);
    },
  );

  test('of 20 new values among 180 known ones is told, makes the level unknown, and is asked again once', async () => {
    await using nights = await openNights();
    const nothing: Script = () => data({});
    expect(await nights.run(0, values(0, 180))).toMatchObject({code: 0, calls: 180});
    const second = await nights.run(1, values(0, 200), nothing);
    expect(second).toMatchObject({code: 3, calls: 20, summary: {lookups: {email: {failed: 20}}}});
    expect(second.stderr).toMatch(/20 email answers could not be used: no known field has a value/);
    expect(second.rows.slice(180).map(row => [row.email_error, row.risk_level])).toEqual(
      Array(20).fill(['bad_response', 'unknown']),
    );
    expect(await nights.stored()).toBe(180);
  });
});

describe('an answer about another value', () => {
  const of = (email: string) =>
    data({is_valid: true, is_trusted: true, normalized_email: email, domain: 'example.com'});
  const MIXED: Readonly<Record<string, () => Script>> = {
    'a cache in front of POST': () => () => of('u0@example.com'),
    'a proxy that shifts answers by one': () => {
      let last = '';
      return ({value}) => {
        const given = of(last === '' ? value : last);
        last = value;
        return given;
      };
    },
  };
  test.each(Object.entries(MIXED))('%s: three in a row stop the run, and none is kept', async (_, make) => {
    await using nights = await openNights();
    const {code, calls, summary, stderr} = await nights.run(0, values(0, 50), make());
    expect([code, calls, summary.reason]).toEqual([2, 4, 'mixed_answers']);
    expect(stderr).toMatch(/answers of other calls/);
    expect(summary.credits).toMatchObject({spent: 4, maybe_spent: 0});
    expect(await nights.stored()).toBe(1);
    expect(nights.api.ledger.connections).toBe(3);
    expect(await nights.run(0, values(0, 50))).toMatchObject({code: 0, calls: 49});
  });

  test('now and then: no answer, and the connection is closed', async () => {
    await using nights = await openNights();
    const mixed: Script = ({value}) => (value === 'u3@example.com' ? of('u1@example.com') : undefined);
    const {code, summary, rows, stderr} = await nights.run(0, values(0, 9), mixed);
    expect([code, rows[3]?.email_error, summary.lookups.email?.answered]).toEqual([3, 'bad_response', 8]);
    expect(stderr).toMatch(/1 email answer could not be used: it is about another value/);
    expect([await nights.stored(), nights.api.ledger.connections]).toEqual([8, 2]);
  });

  test('a form that was never sent, a tag and a provider’s other domain are the service’s normal form', async () => {
    await using nights = await openNights();
    const forms = ['jo+a@example.com', 'jo@example.com', 'al.x@googlemail.com', 'alx@gmail.com'];
    const plain = (value: string) => value.replace('+a', '').replace('al.x@googlemail', 'alx@gmail');
    const renamed: Script = ({value}) => of(value.startsWith('u') ? `main-${value}` : plain(value));
    const {code, summary, stderr} = await nights.run(0, [...forms, ...values(0, 9)], renamed);
    expect([code, summary.lookups.email?.answered, summary.calls.other_forms]).toEqual([0, 13, 9]);
    expect(stderr.match(/in another form than was sent/g)).toHaveLength(1);
    expect(await nights.stored()).toBe(13);
  });
});

describe('an answer that lacks what earlier ones had', () => {
  const poor: Script = () => data({trust_score: 7, domain: 'example.com', verdict: 'x'});
  test('is used and not kept, and is told by the names', async () => {
    await using nights = await openNights();
    await nights.run(0, values(0, 20));
    const {code, stderr, rows, summary} = await nights.run(24, values(0, 30), poor);
    expect([code, rows[25]?.email_trust_score, rows[25]?.risk_level]).toEqual([0, '7', 'unknown']);
    expect(stderr).toMatch(/No new email answer has is_valid, is_trusted, has_aliasing, which rules read/);
    expect(stderr).toMatch(/Most new email answers have unknown fields: verdict/);
    expect(summary.calls.oddities).toHaveLength(2);
    expect([summary.new_answers?.email, await nights.stored()]).toEqual([10, 20]);
    expect((await nights.run(48, values(20, 30))).calls).toBe(10);
  });

  test('is told and not kept if others of the same night had more, and no long list of fields is shown', async () => {
    await using nights = await openNights();
    const wide = Object.fromEntries(Array.from({length: 90}, (_, n) => [`f${n}`, n]));
    const script: Script = ({value}) => (/u2\d/.test(value) ? data({trust_score: 7, ...wide}) : undefined);
    const {code, stderr, summary} = await nights.run(0, values(0, 30), script);
    expect([code, summary.risk?.unknown, await nights.stored()]).toEqual([0, 10, 20]);
    expect(stderr).toMatch(/10 of 30 new email answers have no field that rules read, and are not kept\./);
    const shown = await nights.run(24, values(0, 29), () => data({is_valid: true, ...wide}));
    expect(shown.stderr).toMatch(/unknown fields: f0, f1, f2, f3, f4, 85 more\./);
  });

  test('is told by a session that resumes the run, of what the one before bought, too', async () => {
    await using nights = await openNights();
    await nights.run(0, values(0, 20));
    const lame: Script = call => (call.value < 'u28' ? data({is_valid: true}) : poor(call));
    const limited = await nights.run(24, values(0, 30), lame, '--max-credits', '9');
    expect(limited).toMatchObject({code: 7, calls: 9});
    const {code, calls, summary, stderr} = await nights.run(24, values(0, 30), lame);
    expect([code, calls, summary.new_answers?.email]).toEqual([0, 1, 10]);
    expect(summary.new_fields?.email?.is_valid?.present).toBe(0.8);
    expect(stderr).toMatch(/No new email answer has is_trusted, has_aliasing, which rules read/);
  });

  test('is kept, without a word, if the service never had more', async () => {
    await using nights = await openNights();
    expect(await nights.run(0, values(0, 20), poor)).toMatchObject({code: 0, calls: 20});
    expect(await nights.stored()).toBe(20);
    const {stderr, calls} = await nights.run(24, values(0, 30), poor);
    expect([stderr.includes('new email'), calls]).toEqual([false, 10]);
  });
});

describe('a refusal', () => {
  const refusing =
    (code: string, status = 400): Script =>
    ({value}) =>
      value === 'u1@example.com' ? reply.error(status, code) : undefined;

  /** Runs at these hours: the exit code of each, its calls, its flags. */
  const NIGHTS: Readonly<Record<string, readonly (readonly [number, number, number, ...string[]])[]>> = {
    'half a day after the first': [
      [0, 3, 4],
      [11, 3, 1],
      [13, 0, 1],
      [48, 0, 0],
      [72, 0, 1, '--force'],
    ],
    'though the clock was ahead at first': [
      [9_000, 3, 4],
      [1, 3, 4],
      [2, 3, 1],
      [14, 0, 1],
    ],
  };
  test.each(Object.entries(NIGHTS))('is the value’s after a second run %s', async (_, runs) => {
    await using nights = await openNights();
    const odd = refusing('mailbox_unknown');
    for (const [hour, ended, called, ...flags] of runs) {
      const {code, calls, rows} = await nights.run(hour, values(0, 4), odd, ...flags);
      const seen = [code, calls, rows[1]?.email_error];
      expect(seen, `hour ${hour}`).toEqual([ended, called, 'mailbox_unknown']);
    }
    // Another code begins anew.
    const {code, calls} = await nights.run(96, values(0, 4), refusing('no_mx'), '--force');
    expect([code, calls]).toEqual([3, 1]);
  });

  test('of the moment, at each fifth call and in any spelling, is sent again, and is no answer of a later night', async () => {
    await using nights = await openNights();
    const codes =
      'temporarily_unavailable RATE-LIMIT-EXCEEDED internalError Timeout maintenance ConcurrentRequest'.split(
        ' ',
      );
    const each: Script = ({call}) =>
      call % 5 === 0 ? reply.error(call % 2 === 0 ? 400 : 200, codes[(call / 5) % 6] as string) : undefined;
    const credits = {spent: 28, maybe_spent: 3};
    expect(await nights.run(0, values(0, 25), each)).toMatchObject({code: 0, calls: 31, summary: {credits}});
    expect(await nights.stored()).toBe(25);
    expect(await nights.run(24, values(0, 25), each)).toMatchObject({code: 0, calls: 0});
  });

  test.each([200, 400])(
    'of the moment, with status %i, is never kept, and never explained as ours',
    async status => {
      await using nights = await openNights();
      for (const hour of [0, 24]) {
        const night = nights.run(hour, values(0, 4), refusing('internal_error', status));
        const {code, stderr, calls, summary} = await night;
        expect([code, calls > 0]).toEqual([3, true]);
        expect(summary.errors[0]).toMatchObject({code: 'email.internal_error', service: true});
        expect(stderr).not.toContain('This program failed');
      }
      expect((await nights.run(48, values(0, 4))).code).toBe(0);
    },
  );
});

test('a night on old answers is told in the last line, in metrics, and though quiet', async () => {
  await using nights = await openNights();
  await nights.run(0, values(0, 9));
  const flags = '--stale 30d --max-age 1d --publish-on outage --max-outage 1s --quiet --metrics m.prom'.split(
    ' ',
  );
  const down = () => reply.unavailable();
  const {code, stderr, rows} = await nights.run(48, values(0, 9), down, ...flags, '--report', 'night.md');
  expect(code).toBe(3);
  expect(stderr).toMatch(/9 lookups used an answer past its age \(outage\)/);
  expect(nights.sandbox.read('night.md')).toMatch(/9 lookups used an answer past its age/);
  expect(rows.map(row => [row.email_status, row.email_stale])).toEqual(Array(9).fill(['ok', 'true']));
  const metrics = nights.sandbox.read('m.prom');
  expect(metrics).toMatch(/run_stale_lookups\{job_name="",operation="email"\} 9\n/);
  expect(metrics).toMatch(/last_run_reason\{job_name="",reason="outage"\} 1\n/);
  const limit = ['--fail-if', 'lookups.email.stale > 0'];
  const failed = await nights.run(49, values(0, 9), down, ...flags, ...limit);
  expect([failed.code, failed.stderr]).toEqual([4, expect.stringContaining('past its age (outage)')]);
});

test('what a bad night bought is taken back by its time and operation, and by nothing less', async () => {
  await using nights = await openNights();
  await nights.run(0, values(0, 5));
  const between = new Date(Date.now() + 20 * 3_600_000).toISOString();
  await nights.run(24, values(5, 8));
  const purge = (...args: readonly string[]) => runHere(nights.sandbox, ['store', 'purge', ...args]);
  const since = `--since ${between}`;
  for (const wrong of [
    '',
    `--until ${between}`,
    '--since monday',
    '--since 2026-02-31',
    '--since 2026-01-31T02:00',
    `${since} --operation mail`,
    `u1@example.com ${since}`,
  ])
    expect((await purge(...wrong.split(' ').filter(Boolean))).code, wrong).toBe(2);
  const minute = between.replace(/:\d\d\.\d+/, '');
  const time = ['--since', minute, '--until', new Date(Date.now() + 1).toISOString()];
  for (const none of [
    [...time, '--operation', 'ip'],
    ['--since', minute, '--until', between],
  ])
    expect((await purge(...none)).stdout).toMatch(/^The store has nothing of that time/);
  expect((await purge(...time, '--operation', 'email')).stdout).toMatch(/^3 answers removed/);
  expect(await nights.stored()).toBe(5);
  const again = await nights.run(24, values(0, 8), undefined, '--force');
  expect([again.code, again.calls, await nights.stored()]).toEqual([0, 3, 8]);
});

test('doctor --call fails on an answer without a known field', async () => {
  await using nights = await openNights();
  nights.api.setScript(() => data({isVpn: false}));
  const {code, stdout} = await runHere(nights.sandbox, 'doctor --call', {env: nights.env});
  expect(code).toBe(3);
  expect(stdout).toMatch(/no known field has a value; unknown: isVpn/);
});

import {expect, expectTypeOf, it} from 'vitest';
import type {z} from 'zod';
import {
  type AnswerData,
  BulkEnrichError,
  type EmailData,
  type Enriched,
  type EnrichSettings,
  type ErrorCode,
  enrich,
  type IpData,
  type JobInput,
  type LookupResult,
  type Operation,
  type Risk,
  type RunOutcome,
  runJob,
  type Stop,
  type Summary,
  startService,
} from '../../src/index.ts';
import type {jobSchema} from '../../src/job/settings.ts';
import type {operations} from '../../src/operations/table.ts';

interface Signup {
  readonly id: number;
  readonly when: Date;
  readonly signup_ip: string;
  readonly last_ip?: string;
  readonly user: {readonly mail: string};
}

const signups: readonly Signup[] = [];

/** Takes code that only the compiler sees: it is never run. */
function never(code: () => unknown): void {
  expect(code).toBeTypeOf('function');
}

it('the type of a row follows from its settings', () => {
  never(async () => {
    for await (const row of enrich(signups, {ip: 'signup_ip', email: 'user.mail'})) {
      expectTypeOf(row.when).toEqualTypeOf<Date>();
      expectTypeOf(row.enrichment.ip).toEqualTypeOf<LookupResult<IpData>>();
      expectTypeOf(row.enrichment.email).toEqualTypeOf<LookupResult<EmailData>>();
      expectTypeOf(row.enrichment.risk).toEqualTypeOf<Risk>();
      const {ip} = row.enrichment;
      if (ip.status === 'ok') expectTypeOf(ip.data.country).toEqualTypeOf<string | undefined>();
      if (ip.status === 'ok') expectTypeOf(ip.error).toEqualTypeOf<null>();
      if (ip.status === 'invalid') expectTypeOf(ip.data).toEqualTypeOf<null>();
      // @ts-expect-error there may be no data
      ip.data.country;
      // @ts-expect-error no such operation was asked for
      row.enrichment.phone;
      // @ts-expect-error misspelt
      row.enrichment.emial;
      // @ts-expect-error misspelt
      if (ip.status === 'ok') ip.data.contry;
      // @ts-expect-error no such status
      ip.status === 'OK';
    }
  });
});

it('several columns go by their names or prefixes, and nothing is scored without rules', () => {
  never(async () => {
    const several = {ip: ['signup_ip', {column: 'last_ip', prefix: 'last_'}], score: 'none'} as const;
    for await (const {enrichment} of enrich(signups, several)) {
      expectTypeOf(enrichment.signup_ip).toEqualTypeOf<LookupResult<IpData>>();
      expectTypeOf(enrichment.last).toEqualTypeOf<LookupResult<IpData>>();
      // @ts-expect-error nothing is scored
      enrichment.risk;
      // @ts-expect-error each has a name of its own
      enrichment.ip;
    }
    for await (const {enrichment} of enrich(signups, {}))
      expectTypeOf(enrichment.ip).toEqualTypeOf<LookupResult<IpData> | undefined>();
  });
  type Any = Enriched<Signup>['enrichment'];
  expectTypeOf<Any['ip']>().toEqualTypeOf<LookupResult<IpData> | undefined>();
});

it('rows that are left are ended by the iterator', () => {
  never(async () => {
    const enriched = enrich(signups, {ip: 'signup_ip'});
    const {done, value} = await enriched.next();
    if (done) expectTypeOf(value).toEqualTypeOf<Summary>();
    else expectTypeOf(value.enrichment.ip).toEqualTypeOf<LookupResult<IpData>>();
    await enriched.return();
  });
});

it('columns are keys of the rows; settings that always fail do not compile', () => {
  never(() => [
    // @ts-expect-error no such column
    enrich(signups, {ip: 'ipp'}),
    // @ts-expect-error no such column
    enrich(signups, {ip: ['signup_ip', 'ipp']}),
    // @ts-expect-error no such column
    enrich(signups, {ip: 'signup_ip', country: 'land'}),
    // @ts-expect-error no such setting
    enrich(signups, {ip: 'signup_ip', emial: 'user.mail'}),
    // @ts-expect-error no setting of rows that a program gives
    enrich(signups, {ip: 'signup_ip', output: 'out.csv'}),
    // @ts-expect-error rows that a program gives are not written to a table
    enrich(signups, {ip: 'signup_ip', escapeFormulas: 'all'}),
    // @ts-expect-error the library prints nothing
    enrich(signups, {ip: 'signup_ip', quiet: true}),
    // @ts-expect-error the library prints nothing
    runJob({input: 'a.csv', log: 'debug'}),
    // @ts-expect-error no such limit
    enrich(signups, {ip: 'signup_ip', publishOn: ['budgett']}),
    // @ts-expect-error no such option
    startService({prot: 1}),
    // @ts-expect-error no such field
    enrich(signups, {ip: 'signup_ip', fields: ['ip.contry']}),
    // @ts-expect-error a length of time has a unit
    enrich(signups, {ip: 'signup_ip', timeout: 30}),
    // @ts-expect-error a length of time has a unit
    enrich(signups, {ip: 'signup_ip', maxAge: {ip: 30}}),
    // @ts-expect-error a rate has a unit
    enrich(signups, {ip: 'signup_ip', rate: 20}),
    // @ts-expect-error no such operation
    enrich(signups, {ip: 'signup_ip', cost: {ipp: 1}}),
  ]);
  expectTypeOf<JobInput['timeout']>().not.toExtend<number>();
  const fine = {
    ip: 'signup_ip=checked_',
    email: {column: 'user.mail', when: 'risk.score > 20'},
    fields: ['ip.country', 'trust_score', 'risk.points'],
    rate: {ip: '50/s'},
    maxAge: 'ip=1d,email=30d',
    timeout: '1.5s',
    cost: 2,
    failIf: ['risk.high > 5'],
  } as const satisfies EnrichSettings<Signup>;
  never(() => enrich(signups, fine));
});

it('a function may be generic over its rows, and take settings from texts', () => {
  async function* scored<Row extends {readonly ip: string}>(rows: Iterable<Row>) {
    for await (const row of enrich(rows, {ip: 'ip', rate: process.env['RATE'] ?? '20/s'})) {
      expectTypeOf(row.enrichment.ip).toEqualTypeOf<LookupResult<IpData>>();
      yield row;
    }
  }
  const byColumn = <Row extends object, Name extends keyof Row & string>(
    rows: readonly Row[],
    column: Name,
  ) => enrich(rows, {email: column, timeout: String(process.env['TIMEOUT']), publishOn: 'budget,outage'});
  never(() => [scored([{ip: '192.0.2.1', id: 1}]), byColumn(signups, 'signup_ip')]);
  // @ts-expect-error no such column
  never(() => byColumn(signups, 'mail'));
  expectTypeOf<JobInput['rate']>().toExtend<EnrichSettings['rate']>();
  // Words beside any text: an editor completes them.
  expectTypeOf<Extract<EnrichSettings['endpoint'], 'embedded'>>().toEqualTypeOf<'embedded'>();
  expectTypeOf<Extract<EnrichSettings['publishOn'], 'outage'>>().toEqualTypeOf<'outage'>();
});

type Plain<T> = T extends string
  ? T
  : T extends readonly (infer One)[]
    ? Plain<One>[]
    : T extends object
      ? {-readonly [Name in keyof T]-?: Plain<Exclude<T[Name], undefined>>}
      : T;
/** Without the index signature by which a service may send further fields. */
type Declared<T> = T extends readonly (infer One)[]
  ? Declared<One>[]
  : T extends object
    ? {[Name in keyof T as string extends Name ? never : Name]: Declared<T[Name]>}
    : T;

it('the written types are those of the schemas', () => {
  never(() => {
    type Read<Name extends Operation> = Plain<Declared<z.output<(typeof operations)[Name]['data']>>>;
    expectTypeOf<Plain<AnswerData<'ip'>>>().toEqualTypeOf<Read<'ip'>>();
    expectTypeOf<Plain<AnswerData<'phone'>>>().toEqualTypeOf<Read<'phone'>>();
    expectTypeOf<Plain<AnswerData<'email'>>>().toEqualTypeOf<Read<'email'>>();
    expectTypeOf<Plain<AnswerData<'verify'>>>().toEqualTypeOf<Read<'verify'>>();
    type Given = Plain<z.input<typeof jobSchema>>;
    type Offered = Omit<Given, 'log' | 'quiet'>;
    expectTypeOf<keyof JobInput>().toEqualTypeOf<keyof Offered>();
    expectTypeOf<Plain<JobInput>>().toExtend<Offered>();
    // The words of these are known in the schema only once it has been read.
    type Words = 'publishOn' | 'encoding';
    expectTypeOf<Omit<Offered, Words>>().toExtend<Omit<Plain<JobInput>, Words>>();
  });
});

it('codes of errors are a union, and answers that are given have their fields', () => {
  expectTypeOf<BulkEnrichError['code']>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<string>().not.toExtend<ErrorCode>();
  expectTypeOf<RunOutcome['message']>().toEqualTypeOf<string>();
  expectTypeOf<Stop['message']>().toEqualTypeOf<string>();
  expectTypeOf(runJob).returns.resolves.toEqualTypeOf<RunOutcome>();
  never((error: unknown = undefined) => {
    // @ts-expect-error misspelt
    if (error instanceof BulkEnrichError && error.code === 'unknown_colum') return;
    return startService({answers: {ip: {'8.8.8.8': {is_threat: true}}}});
  });
  never(() => [
    // @ts-expect-error misspelt
    startService({answers: {ip: {'8.8.8.8': {is_thret: true}}}}),
    // @ts-expect-error of another type
    startService({answers: {ip: {'8.8.8.8': {is_threat: 'yes'}}}}),
  ]);
});

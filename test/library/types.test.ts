import {expectTypeOf, it} from 'vitest';
import {
  BulkEnrichError,
  type EmailData,
  type Enriched,
  type EnrichSettings,
  type ErrorCode,
  enrich,
  type IpData,
  type JobInput,
  type LookupResult,
  type Risk,
  startService,
} from '../../src/index.ts';

interface Signup {
  readonly id: number;
  readonly when: Date;
  readonly signup_ip: string;
  readonly last_ip?: string;
  readonly user: {readonly mail: string};
}

const signups: readonly Signup[] = [];

/** Takes code that must not compile. It is never run. */
function never(_: () => unknown): void {}

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
    const {value} = await enriched.next();
    if (value) expectTypeOf(value.enrichment.ip).toEqualTypeOf<LookupResult<IpData>>();
    expectTypeOf(await enriched.return()).toExtend<IteratorResult<typeof value, void>>();
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
    // @ts-expect-error no such operation
    enrich(signups, {ip: 'signup_ip', only: ['ipp']}),
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
    only: 'ip',
    rate: {ip: '50/s'},
    maxAge: 'ip=1d,email=30d',
    timeout: '1.5s',
    cost: 2,
    failIf: ['risk.high > 5'],
  } as const satisfies EnrichSettings<Signup>;
  never(() => enrich(signups, fine));
});

it('codes of errors are a union, and answers that are given have their fields', () => {
  expectTypeOf<BulkEnrichError['code']>().toEqualTypeOf<ErrorCode>();
  expectTypeOf<string>().not.toExtend<ErrorCode>();
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

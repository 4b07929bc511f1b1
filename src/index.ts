/** The library: a run, the service's client, and the embedded service for other people's tests. */
export type {Attempt} from './client/attempt.ts';
export {type Client, type ClientOptions, createClient, type VerifyParams} from './client/client.ts';
export {ClientError} from './client/client-error.ts';
export {BulkEnrichError, exitCodes} from './errors.ts';
export type {JobInput} from './job/settings.ts';
export {
  type Enriched,
  type Enrichment,
  type EnrichSettings,
  enrich,
  enrichStream,
  type LookupResult,
} from './library/enrich.ts';
export {type RunJobOptions, runJob} from './library/run-job.ts';
export type {AnswerData, EmailData, IpData, Operation, PhoneData, VerifyData} from './operations/table.ts';
export type {Summary} from './report/summary.ts';
export type {RunOutcome} from './run/run-outcome.ts';
export type {Risk, RiskLevel} from './score/risk.ts';
export {type Service, type ServiceOptions, startService} from './service/start.ts';

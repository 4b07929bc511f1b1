/** The library: runs, the service's client, and the embedded service for users' tests. */
export type {Answered, Attempt, PaceHeaders, Responded} from './client/attempt.ts';
export {
  type AnsweredBy,
  type AttemptOf,
  type Client,
  type ClientOptions,
  createClient,
  type RequestParams,
  type VerifyParams,
} from './client/client.ts';
export {ClientError} from './client/client-error.ts';
export type {CallOptions} from './client/http/transport.ts';
export {BulkEnrichError, type ErrorCode, type ExitCode, exitCodes} from './errors.ts';
export type {EventLog} from './job/log-events.ts';
export {type EnrichedRows, enrich, enrichStream} from './library/enrich.ts';
export type {Enriched, Enrichment, EnrichSettings, LookupResult, RejectedRow} from './library/enriched.ts';
export type {JobInput, RunSettings} from './library/job-input.ts';
export {AbortError, type Progress, type RunJobOptions, runJob, startService} from './library/run-job.ts';
export type {AnswerData, EmailData, IpData, Operation, PhoneData, VerifyData} from './operations/table.ts';
export type {Summary} from './report/summary.ts';
export type {Counted, RunOutcome, Stop} from './run/exit.ts';
export type {RiskLevel} from './score/language/rule-variables.ts';
export type {Risk} from './score/scorer.ts';
export type {OperationLedger, ServiceLedger} from './service/credits.ts';
export type {Service, ServiceOptions} from './service/start.ts';

/** The library: runs, the service's client, and the embedded service for users' tests. */
export type {Attempt} from './client/attempt.ts';
export {type Client, type ClientOptions, createClient, type VerifyParams} from './client/client.ts';
export {ClientError} from './client/client-error.ts';
export {BulkEnrichError, type ErrorCode, exitCodes} from './errors.ts';
export {enrich, enrichStream} from './library/enrich.ts';
export type {EnrichSettings} from './library/enrich-settings.ts';
export type {Enriched, Enrichment, LookupResult, RejectedRow} from './library/enriched.ts';
export type {JobInput} from './library/job-input.ts';
export {AbortError} from './library/on-abort.ts';
export {type RunJobOptions, runJob} from './library/run-job.ts';
export {startService} from './library/start-service.ts';
export type {AnswerData, EmailData, IpData, Operation, PhoneData, VerifyData} from './operations/table.ts';
export type {Summary} from './report/summary.ts';
export type {RunOutcome} from './run/run-outcome.ts';
export type {Risk, RiskLevel} from './score/risk.ts';
export type {Service, ServiceOptions} from './service/start.ts';

/** The service's client alone, for programs that make single calls: `bulk-enrich/client`. */
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
export {BulkEnrichError, type ErrorCode} from './errors.ts';
export type {AnswerData, EmailData, IpData, Operation, PhoneData, VerifyData} from './operations/table.ts';

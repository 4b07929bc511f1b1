import {CodedError, type ExitCode, exitCodes} from '../errors.ts';
import {INVALID_TOKEN_CODE} from '../operations/operation.ts';
import type {Attempt, Failure} from './attempt.ts';
import {isProxyCertificateError, NO_TLS} from './classify.ts';

/** Thrown for a call outside of a run that brought no answer. `code` is the service's or the network's. */
export class ClientError extends CodedError {
  readonly attempt: Failure;

  constructor(message: string, attempt: Failure) {
    super(attempt.code, exitCodeOfAttempt(attempt), message);
    this.attempt = attempt;
  }
}

/** The exit code of a single lookup, or of a run, that ended with this failure. */
export function exitCodeOfAttempt(attempt: Failure): ExitCode {
  if (attempt.kind !== 'fatal') {
    return attempt.kind === 'not_sent' || attempt.kind === 'throttled'
      ? exitCodes.temporary
      : exitCodes.incomplete;
  }
  if (attempt.reason === 'credentials') return exitCodes.credentials;
  return attempt.reason === 'credits' ? exitCodes.credits : exitCodes.usage;
}

/** One sentence for the user: the failure, and advice if there is any. `keyFrom`: the variable that has the key. */
export function explainFailure(attempt: Failure, keyFrom = 'BULK_ENRICH_API_KEY'): string {
  switch (attempt.kind) {
    case 'not_sent':
      return attempt.code.startsWith('proxy_')
        ? `the proxy can't be reached, or refuses the connection (${attempt.code}): check HTTPS_PROXY; nothing was sent`
        : `the service can't be reached (${attempt.code}); nothing was sent`;
    case 'throttled':
      return `the service asks to slow down (${attempt.code})`;
    case 'ambiguous':
      return `no answer came (${attempt.code}); the call may have been charged`;
    case 'unreadable':
      return `the answer breaks the interface (${attempt.detail})`;
    case 'rejected':
      return attempt.code === INVALID_TOKEN_CODE
        ? `the service rejected the call (${attempt.code}): the session token or the API key is not valid; check both (${keyFrom})`
        : `the service rejected the call (${attempt.code})`;
    case 'fatal':
      return explainFatal(attempt, keyFrom);
    default:
      return attempt satisfies never;
  }
}

function explainFatal(attempt: Extract<Attempt, {kind: 'fatal'}>, keyFrom: string): string {
  switch (attempt.reason) {
    case 'credentials':
      return `the service does not accept the API key (${attempt.code}): check ${keyFrom}`;
    case 'credits':
      return `the account has no credits left (${attempt.code})`;
    case 'redirect':
      return `the service answered with a redirect (${attempt.code}), which would send the key elsewhere and is never followed. Check BULK_ENRICH_BASE_URL`;
    case 'certificate':
      return explainCertificate(attempt.code, attempt.limit);
    case 'proxy':
      return isProxyCertificateError(attempt.code)
        ? `the proxy's certificate can't be trusted (${attempt.code}): check HTTPS_PROXY, or add its authority with NODE_EXTRA_CA_CERTS`
        : 'the proxy refuses the credentials, or needs some (407). Set HTTPS_PROXY to http://USER:PASSWORD@HOST:PORT';
    case 'wrong_protocol':
      return attempt.code === NO_TLS
        ? "the service's port does not speak TLS: check BULK_ENRICH_BASE_URL"
        : "the service's port speaks TLS: BULK_ENRICH_BASE_URL must begin with https://";
    case 'mixed_answers':
      return 'the service, or a cache or proxy before it, answers with the answers of other calls: nothing can be told from them. Check BULK_ENRICH_BASE_URL and HTTPS_PROXY';
    default:
      return attempt.reason satisfies never;
  }
}

/** `limit`: the time before or after which the certificate is not valid, if known. */
function explainCertificate(code: string, limit?: string): string {
  const clock = `this machine's clock says ${new Date().toISOString()}`;
  if (code === 'CERT_NOT_YET_VALID')
    return `${clock}, and the service's certificate is not valid yet (${limit === undefined ? code : `valid from ${limit}`}): set the clock; if it is right, the service's operator has to replace the certificate`;
  if (code === 'CERT_HAS_EXPIRED')
    return `the service's certificate has expired (${limit ?? code}); ${clock}. If that is right, the service's operator has to renew it`;
  if (/ALTNAME|HOSTNAME/.test(code))
    return `the service's certificate is for another name (${code}): check BULK_ENRICH_BASE_URL`;
  if (/REVOKED/.test(code))
    return `the service's certificate was revoked (${code}): tell the service's operator, and send no key before it is replaced`;
  return `the service's certificate can't be trusted (${code}): check BULK_ENRICH_BASE_URL, or add its authority with NODE_EXTRA_CA_CERTS`;
}

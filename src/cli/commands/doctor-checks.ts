import {isIP} from 'node:net';
import {parseBaseUrl} from '../../client/client.ts';
import {exitCodeOfAttempt, explainFailure} from '../../client/client-error.ts';
import {probeService, type Reachability} from '../../client/reachability.ts';
import {CodedError, type ExitCode, exitCodes} from '../../errors.ts';
import {formatDuration} from '../../report/format.ts';

export interface Check {
  readonly name: string;
  /** `failed`: a run would fail, too. `warning`: a run works anyway. `skipped`: nothing was checked. */
  readonly state: 'ok' | 'warning' | 'failed' | 'skipped';
  /** The finding with what to do about it, or the reason why the check was skipped. */
  readonly detail: string;
  /** Exit code with which a run would fail for this reason. Set only if `state` is `failed`. */
  readonly exitCode?: ExitCode;
}

const inState = (state: Check['state']) => (name: string, detail: string) => ({name, state, detail});
export const passedCheck = inState('ok');
export const skippedCheck = inState('skipped');
export const warningCheck = inState('warning');
export const failedCheck = (name: string, detail: string, exitCode: ExitCode): Check => ({
  ...inState('failed')(name, detail),
  exitCode,
});

/** The checks that `work` makes; a failed check of this name if it throws a foreseen error. */
export async function collectChecks(name: string, work: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    return [failedCheck(name, error.message, error.exitCode)];
  }
}

/** Clock difference above which doctor warns: valid certificates may look expired, and times in logs mislead. */
const SKEW_MS = 60_000;
const PROBE_TIMEOUT_MS = 10_000;

/** Checks the way to a live service: proxy, DNS, connection, TLS, clock. Sends no key, so nothing is charged. */
export async function checkNetwork(baseUrl: string, timeoutMs: number): Promise<Check[]> {
  const base = parseBaseUrl(baseUrl);
  const found = await probeService(base, Math.min(timeoutMs, PROBE_TIMEOUT_MS));
  const proxy = found.proxy === undefined ? 'none' : `${found.proxy} (HTTPS_PROXY)`;
  const dns = dnsCheck(base, found);
  const rest =
    dns.state === 'failed'
      ? [skippedCheck('connection', 'the address of the host is not known')]
      : checkConnection(base, found);
  return [passedCheck('proxy', proxy), dns, ...rest];
}

function dnsCheck(base: URL, {dns}: Reachability): Check {
  if (dns === undefined) return skippedCheck('dns', 'the proxy resolves the name');
  if (isIP(base.hostname.replace(/^\[|\]$/g, '')) > 0)
    return skippedCheck('dns', 'the URL has an IP address, so there is no name to look up');
  if ('addresses' in dns) return passedCheck('dns', `${base.hostname}: ${dns.addresses.join(', ')}`);
  const detail = `${base.hostname} can't be resolved (${dns.error}): check BULK_ENRICH_BASE_URL and the network`;
  return failedCheck('dns', detail, exitCodes.temporary);
}

function checkConnection(base: URL, {answer}: Reachability): Check[] {
  if ('failure' in answer) {
    const {failure} = answer;
    const isOfTls = failure.kind === 'fatal' && failure.reason !== 'proxy';
    const isPlain = failure.kind !== 'fatal' && !failure.code.startsWith('proxy_');
    const detail = isPlain ? `${base.host} does not answer (${failure.code})` : explainFailure(failure);
    const skipped = (name: string) => skippedCheck(name, 'the service did not answer');
    const failed = failedCheck(isOfTls ? 'tls' : 'connection', detail, exitCodeOfAttempt(failure));
    return [failed, ...(isOfTls ? [] : [skipped('tls')]), skipped('clock')];
  }
  const {tls, skewMs} = answer;
  return [
    passedCheck('connection', `${base.host} answers (${answer.status} to a GET without key)`),
    tls === undefined
      ? skippedCheck('tls', 'not needed: the service is on this machine')
      : passedCheck('tls', `${tls.protocol}, certificate valid to ${tls.validTo}`),
    clockCheck(skewMs),
  ];
}

function clockCheck(skewMs: number | undefined): Check {
  if (skewMs === undefined) return skippedCheck('clock', 'the service does not say what time it is');
  const skew = `${formatDuration(Math.abs(skewMs))} ${skewMs < 0 ? 'ahead of' : 'behind'} the service's`;
  return Math.abs(skewMs) > SKEW_MS
    ? warningCheck('clock', `this machine's clock is ${skew}: set it`)
    : passedCheck('clock', `within ${formatDuration(SKEW_MS)} of the service's`);
}

import {createHash} from 'node:crypto';
import {parseBaseUrl} from '../client/client.ts';
import type {Endpoint} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import {namesWithoutEffectOnResult, type Settings} from '../job/settings.ts';
import {type AccountScope, scopeKey} from '../ledger/answers/store-file.ts';
import {fingerprintRuleSet, loadRules} from '../score/rules.ts';
import {dataVersion} from '../service/data/packed-data.ts';

/*
 * Left: what a session or run takes over from an earlier one. Right: what must be equal in both for that.
 *
 *   the lock, the state's directory   the output's path
 *   the ledger: answers, doubts,      the output and the scope: endpoint and account ({@link answerScope}), with the
 *   spending                          embedded service's data; as in the answer store ({@link scopeKeyOfJob}). Another's
 *                                     is refused (src/run/state/run-identity.ts)
 *   the count of credits              for a job also its list (src/run/state/run-identity.ts)
 *   "it is complete"                  settings, input and output, by the summary's digests
 *   the history                       the job's name, else its list and scope
 *   credits of a day and a month      the scope, however the account's files are named
 */

/** The endpoint and account to which answers and spending belong. Runs with another scope don't use them. */
export function answerScope(endpoint: Endpoint, settings: Job['settings']): AccountScope {
  return {endpoint: endpointName(endpoint), label: settings.account};
}

/** The key of a job's answers and spending. For the embedded service, each version of its data counts as an endpoint. */
export function scopeKeyOfJob({endpoint, settings}: Job): string {
  const scope = answerScope(endpoint, settings);
  return scopeKey(
    endpoint.kind === 'embedded' ? {...scope, endpoint: `${scope.endpoint} ${dataVersion()}`} : scope,
  );
}

/** The endpoint's name in summaries and account files. @throws {UsageError} if the base URL is invalid. */
export function endpointName(
  endpoint: {readonly kind: 'embedded'} | {readonly kind: 'live'; readonly baseUrl: string},
): string {
  if (endpoint.kind === 'embedded') return 'embedded';
  const {origin, pathname} = parseBaseUrl(endpoint.baseUrl);
  return `${origin}${pathname}`.replace(/\/+$/, '');
}

/** SHA-256 (hex) of all settings that affect the result. The summary has it, to identify the output's settings. */
export function settingsDigest(job: Job): string {
  const settings: Partial<Settings> = {...job.settings};
  for (const name of namesWithoutEffectOnResult) delete settings[name];
  const {name, inputs, output, endpoint, paths} = job;
  const asked = {scope: scopeKeyOfJob(job), actionId: endpoint.actionId};
  const {summary, rejects} = paths;
  const written = {...(output.lasts && {output: output.name}), summary, rejects};
  return createHash('sha256')
    .update(JSON.stringify([name, inputs, written, asked, settings, rulesIn(job)]))
    .digest('hex');
}

/** The rules' current content. A rules file, or a list that it reads, may change while its name stays the same. */
function rulesIn({settings: {score}, placeOf}: Job): unknown {
  try {
    return fingerprintRuleSet(loadRules(score, placeOf));
  } catch {
    return null;
  }
}

import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {ClientError} from '../../client/client-error.ts';
import {userDirectory} from '../../disk/directory.ts';
import {BulkEnrichError, exitCodes, OutputError, systemCode, systemReason, UsageError} from '../../errors.ts';
import type {Endpoint, Env} from '../../job/endpoint.ts';
import {isFromJobFile, type Job} from '../../job/job.ts';
import {checkAccountFile, readYaml} from '../../job/parse.ts';
import {type ChargeKind, createOperationPricer, toThousandths} from '../../job/settings/cost.ts';
import {type AccountSettings, accountSettingsSchema} from '../../job/settings/store-settings.ts';
import {AccountBudget, type ExhaustedLimit} from '../../ledger/account/account-budget.ts';
import type {AnswerStore} from '../../ledger/answers/store.ts';
import {type AccountScope, scopeKey} from '../../ledger/answers/store-file.ts';
import {chargeKindOfAttempt} from '../../lookup/retry-policy.ts';
import type {Operation} from '../../operations/table.ts';
import {pluralize} from '../../report/format.ts';
import type {Summary} from '../../report/summary.ts';
import {say, setting, shellWord} from '../../sentence.ts';
import {spentByRun} from '../end/history.ts';
import type {World} from '../io.ts';
import {answerScope, endpointName} from '../scope.ts';

export interface AccountLimits extends AccountSettings {
  /** The {@link scopeKey} under which the account's use is counted. */
  readonly key: string;
  readonly path: string;
}

/**
 * Finds the file of the job's account. Undefined if the endpoint has no account files; warns if others have some: the
 * URL may be another spelling of the endpoint's.
 *
 * @throws {UsageError} if any account file can't be read or checked, since its limit may be this job's; if two files
 * belong to the job's account; or if the endpoint has files of other accounts only.
 */
export function findAccount(
  scope: AccountScope,
  env: Env,
  warn: World['warn'] = () => {},
): AccountLimits | undefined {
  const files = listAccountFilePaths(env).map(readAccount);
  const {endpoint, label} = scope;
  const [found, other] = files.filter(({key}) => key === scopeKey(scope));
  if (found !== undefined && other !== undefined)
    throw new UsageError(
      'account_twice',
      `${found.path} and ${other.path} both describe the account "${label}" at ${endpoint}. Keep one.`,
    );
  const siblings = files.filter(file => file.key === scopeKey({endpoint, label: file.account}));
  if (found === undefined && siblings.length > 0)
    throw new UsageError(
      'account_missing',
      say`The account "${label}" at ${endpoint} has no account file, so its limits are unknown. There are files for ${siblings.map(({account, path}) => `"${account}" (${path})`).join(', ')}. Use one of these labels (${setting('account', siblings[0]?.account)}). For an account without limits, write a file with the two lines "endpoint: ${endpoint}" and "account: ${label}".`,
    );
  if (found === undefined && files.length > 0 && endpoint !== endpointName({kind: 'embedded'}))
    warn(
      `No account file is for ${endpoint}, so no limits of an account hold. There are files for ${[...new Set(files.map(each => each.endpoint))].join(', ')}. If one is meant for it, write the same URL; if none is, add a file with the two lines "endpoint: ${endpoint}" and "account: ${label}".`,
    );
  return found;
}

/**
 * Refuses a host that only a job file names: it would get this user's key, and in CI a pull request may bring the file.
 *
 * @throws {UsageError} if neither `BULK_ENRICH_BASE_URL` nor an account file of this user has the endpoint's origin.
 */
export function refuseStrangeHost(job: Pick<Job, 'endpoint' | 'fromFile' | 'placeOf'>, env: Env): void {
  const {endpoint, placeOf} = job;
  if (endpoint.kind !== 'live' || endpoint.apiKey === '' || !isFromJobFile(job, 'endpoint')) return;
  const known = [
    env.BULK_ENRICH_BASE_URL ?? '',
    ...listAccountFilePaths(env).map(path => readAccount(path).endpoint),
  ];
  const {origin} = new URL(endpoint.baseUrl);
  if (known.some(url => URL.canParse(url) && new URL(url).origin === origin)) return;
  throw new UsageError(
    'strange_host',
    `${placeOf(['endpoint'])}: the API key would go to ${origin}, which only the job file names. If this host may have the key, run: export BULK_ENRICH_BASE_URL=${shellWord(endpoint.baseUrl)}. Nothing was sent.`,
  );
}

/** The path of an account's file. @throws an error if there is no home directory. */
export function accountFilePath(name: string, env: Env): string {
  return join(userDirectory('config', env), 'accounts', name);
}

/** @throws {OutputError} without a state directory: other processes could not see how much of `limit` is used. */
export function stateDirectory(env: Env, limit: string): string {
  try {
    return userDirectory('state', env);
  } catch (error) {
    throw new OutputError(
      'daily_budget',
      `The program can't store what is spent of a limit (${limit}): ${systemReason(error)}. Set XDG_STATE_HOME to a directory that lasts.`,
      {cause: error},
    );
  }
}

/** Paths of all account files. @throws {UsageError} if their directory can't be read. */
export function listAccountFilePaths(env: Env): string[] {
  let directory: string;
  try {
    directory = accountFilePath('', env);
  } catch {
    // Without a home directory there are no account files.
    return [];
  }
  try {
    return readdirSync(directory)
      .filter(name => /\.ya?ml$/.test(name))
      .sort()
      .map(name => join(directory, name));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error))) return [];
    throw new UsageError(
      'account_file',
      `The accounts in ${directory} can't be read: ${systemReason(error)}.`,
    );
  }
}

function readAccount(path: string): AccountLimits {
  const file = checkAccountFile(readYaml(path, 'account file', 'account'), accountSettingsSchema);
  const {endpoint: baseUrl, account: label} = file;
  const endpoint = endpointName(baseUrl === 'embedded' ? {kind: baseUrl} : {kind: 'live', baseUrl});
  return {...file, path, key: scopeKey({endpoint, label})};
}

/** Opens the account's count of credits; undefined without a limit. @throws {OutputError} if it can't be read. */
export function openAccountBudget(account: AccountLimits | undefined, io: World): AccountBudget | undefined {
  const {env, now, warn} = io;
  if (account === undefined) return undefined;
  const {key: owner, path, warn_at: share} = account;
  const limits = (['day', 'month'] as const).flatMap(period => {
    const name = `max_credits_per_${period}` as const;
    const credits = account[name];
    return credits === undefined
      ? []
      : [{period, limit: `${name} in ${path}`, maxCredits: toThousandths(credits)}];
  });
  const [first] = limits;
  if (first === undefined) return undefined;
  const directory = stateDirectory(env, first.limit);
  return new AccountBudget({directory, owner, limits, now, warnAt: {share, warn}});
}

export function exhaustedMessage({period, limit, renewsAt}: ExhaustedLimit): string {
  return `The ${period}'s credit limit (${limit}) is reached: nothing more was sent. The next ${period} begins at ${new Date(renewsAt).toISOString()}.`;
}

/** Milliseconds after a period's start within which an answer may come to a call of the period before. */
const LONGEST_CALL_MS = 3_600_000;

/** Raises counts that lack credits which the history or the answer store show: their file is lost, or older. */
export function raiseBudgetCounts(
  budget: AccountBudget | undefined,
  job: Job,
  store: AnswerStore,
  io: World,
): void {
  if (budget === undefined) return;
  const price = createOperationPricer(job);
  const runs = spentByRun(job, io);
  budget.raiseCounts((fromMs, toMs) => {
    const bought = store.boughtWithin(fromMs + LONGEST_CALL_MS, toMs);
    // Other jobs may have had lower prices than this one: one credit is the usual.
    const paid = bought.map(([operation, count]) => count * Math.min(price(operation), toThousandths(1)));
    const spent = runs.map(run => (run.at >= fromMs && run.at < toMs ? run.spent : 0));
    return Math.max(...[spent, paid].map(each => each.reduce((sum, one) => sum + one, 0)));
  });
}

/** A sentence on counts that lacked credits; empty if none did. */
export function undercountSentence({credits: {account}}: Summary): string {
  const {lacked = 0} = [account.per_day, account.per_month].find(each => (each?.lacked ?? 0) > 0) ?? {};
  if (lacked === 0) return '';
  return ` The account's count lacked ${pluralize(lacked, 'credit')} that earlier runs spent, which were added: its file (daily-credits.db in the state directory) is new or older. Check that all runs use the same XDG_STATE_HOME, and compare the service's own count.`;
}

/** A call outside of runs: its endpoint, the settings that name its account, and its operation. */
export interface SingleCallRequest {
  readonly endpoint: Endpoint;
  readonly settings: Job['settings'];
  readonly operation: Operation;
}

/**
 * Makes a call outside of runs within its account's limits. Takes its credits from the budgets of the day and the
 * month, and gives them back if the call was free.
 *
 * @throws {BulkEnrichError} with exit code 7 if a budget is used up; every error of the call.
 */
export async function callWithinAccount<T>(
  {endpoint, settings, operation}: SingleCallRequest,
  io: World,
  call: () => Promise<T>,
): Promise<T> {
  const budget = openAccountBudget(findAccount(answerScope(endpoint, settings), io.env, io.warn), io);
  const credits = createOperationPricer({endpoint, settings})(operation);
  let takenAt: number | undefined;
  let charge: ChargeKind = 'free';
  try {
    if (budget !== undefined) {
      if (budget.take([credits]) === 0 && budget.exhausted !== undefined)
        throw new BulkEnrichError('budget', exitCodes.credits, exhaustedMessage(budget.exhausted));
      takenAt = budget.now();
    }
    // An error of this program may come after the call was sent.
    charge = 'maybe';
    return await call();
  } catch (error) {
    if (error instanceof ClientError) charge = chargeKindOfAttempt(error.attempt, settings.cost);
    // The call was not sent.
    else if (error instanceof BulkEnrichError) charge = 'free';
    throw error;
  } finally {
    if (charge === 'free' && takenAt !== undefined) budget?.refund(credits, takenAt);
    budget?.close();
  }
}

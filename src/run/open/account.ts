import {readdirSync} from 'node:fs';
import {join} from 'node:path';
import {userDirectory} from '../../disk/user-directory.ts';
import {OutputError, systemCode, systemReason, UsageError} from '../../errors.ts';
import type {Env} from '../../job/endpoint.ts';
import {checkYaml, readYaml} from '../../job/parse.ts';
import {type AccountFile, accountFileSchema} from '../../job/settings/account-file.ts';
import {type Scope, scopeKey} from '../../ledger/answers/store-file.ts';
import {say, set} from '../../sentence.ts';
import {endpointName} from '../identity.ts';

/** The limits of a job's account, shared by all jobs that use it. */
export interface Account extends AccountFile {
  /** The {@link scopeKey} under which the account's use is counted. */
  readonly key: string;
  /** Path of the account's file. */
  readonly path: string;
}

/**
 * Finds the file of the job's account. Undefined if the endpoint has no account files.
 *
 * @throws {UsageError} if any account file can't be read or checked, since its limit may be this job's; if two files
 * belong to the job's account; or if the endpoint has files of other accounts only.
 */
export function findAccount(scope: Scope, env: Env): Account | undefined {
  const files = accountFiles(env).map(readAccount);
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
      say`The account "${label}" at ${endpoint} has no account file, so its limits are unknown. There are files for ${siblings.map(({account, path}) => `"${account}" (${path})`).join(', ')}. Use one of these labels (${set('account', siblings[0]?.account)}). For an account without limits, write a file with the two lines "endpoint: ${endpoint}" and "account: ${label}".`,
    );
  return found;
}

/**
 * The path of an account's file.
 *
 * @throws an error if there is no home directory.
 */
export function accountFile(name: string, env: Env): string {
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
export function accountFiles(env: Env): string[] {
  let directory: string;
  try {
    directory = accountFile('', env);
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

function readAccount(path: string): Account {
  const file = checkYaml(readYaml(path, 'account file', 'account'), accountFileSchema, 'account');
  const {endpoint: baseUrl, account: label} = file;
  const endpoint = endpointName(baseUrl === 'embedded' ? {kind: baseUrl} : {kind: 'live', baseUrl});
  return {...file, path, key: scopeKey({endpoint, label})};
}

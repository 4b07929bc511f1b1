import {UsageError} from '../errors.ts';
import {say, setting} from '../sentence.ts';
import {keyVariable, keyVariables, readKey} from './api-key.ts';
import type {Settings} from './settings.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The service to call. No other object contains the API key. */
export type Endpoint =
  | {
      readonly kind: 'embedded';
      readonly actionId?: string | undefined;
      /** True if no setting names the embedded service. */
      readonly byDefault: boolean;
    }
  | {
      readonly kind: 'live';
      readonly baseUrl: string;
      readonly apiKey: string;
      /** The variable that the key comes from. */
      readonly keyFrom?: string | undefined;
      readonly actionId?: string | undefined;
    };

const BASE_URL = 'BULK_ENRICH_BASE_URL';
const [KEY, KEY_FILE, KEY_COMMAND] = keyVariables;
/** Length of a key that is in a URL by no chance. */
const SHORTEST_KEY = 8;
const ACTION_ID = 'BULK_ENRICH_ACTION_ID';

/**
 * Finds the service to call. Only a user at a terminal gets the embedded one without asking: a nightly job that lost
 * its secret must fail. With `offline` no key is read. `warn` receives the stderr of the command that prints the key.
 * @throws {UsageError} if the configuration is incomplete or contradicts itself.
 */
export function resolveEndpoint(
  given: Settings['endpoint'],
  actionId: string | undefined,
  env: Env,
  interactive: boolean,
  {offline = false, warn}: {offline?: boolean; warn?: ((sentence: string) => void) | undefined} = {},
): Endpoint {
  const named = given === 'live' ? undefined : given;
  const service = given === 'embedded' ? [] : [...(named === undefined ? [BASE_URL] : []), ...keyVariables];
  for (const name of [...service, ACTION_ID]) refuseEmptyVariable(name, env);
  const action = actionId ?? env[ACTION_ID];
  if (given === 'embedded') return {kind: 'embedded', actionId: action, byDefault: false};
  const baseUrl = named ?? env[BASE_URL];
  const apiKey = offline ? '' : readKey(env, warn);
  const keyFrom = apiKey ? keyVariable(env) : undefined;
  if (baseUrl === undefined && !apiKey && given === undefined && interactive)
    return {kind: 'embedded', actionId: action, byDefault: true};
  if (baseUrl === undefined) {
    const missing =
      given === 'live'
        ? `The endpoint is live, and ${BASE_URL} is not set. Set it${keyFrom === undefined ? ` and ${KEY}` : ''}`
        : keyFrom === undefined
          ? `No service is configured. Set ${BASE_URL} and ${KEY}`
          : `${keyFrom} is set, but the URL is not. Set ${BASE_URL} too`;
    const sentence = say`${missing}, or use the embedded service: ${setting('endpoint', 'embedded')}.`;
    throw new UsageError('no_endpoint', sentence, {flags: ['--endpoint', 'embedded']});
  }
  if (apiKey === undefined)
    throw new UsageError(
      'no_key',
      `There is a base URL, but no key: set ${KEY_FILE} to a file that holds it, ${KEY_COMMAND} to a command that prints it, or ${KEY}.`,
    );
  if (
    apiKey.length >= SHORTEST_KEY &&
    [apiKey, encodeURIComponent(apiKey)].some(key => baseUrl.includes(key))
  )
    throw new UsageError(
      'base_url_invalid',
      `The base URL has the API key in it, and summaries, logs and messages show the URL. Give the key in ${keyFrom} alone, and the URL without it.`,
    );
  return {kind: 'live', baseUrl, apiKey, keyFrom, actionId: action};
}

/** @throws {UsageError} if the variable is set to an empty text. */
function refuseEmptyVariable(name: string, env: Env): void {
  if (env[name]?.trim() === '')
    throw new UsageError('empty_variable', `${name} is set but empty. Set it, or unset it.`);
}

const REDIS_URL = 'BULK_ENRICH_REDIS_URL';

/**
 * URL of a fleet's Redis, from the setting or (with a password, for the same Redis) the environment. `none` is no
 * fleet. `flag`: the setting's name in messages. Throws UsageError if it is no such URL, or shows a password to
 * others.
 */
export function resolveRedisUrl(given: string | undefined, flag: string, env: Env): string | undefined {
  if (given === 'none') return undefined;
  refuseEmptyVariable(REDIS_URL, env);
  const ofUser = env[REDIS_URL]?.trim();
  if (ofUser !== undefined) checkUrl(ofUser, REDIS_URL);
  if (given === undefined) return ofUser;
  checkUrl(given, flag);
  if (new URL(given).password !== '')
    throw new UsageError(
      'redis_password',
      `${flag} holds a password, which others on this machine can see. Put the URL into ${REDIS_URL}, and leave ${flag} out.`,
    );
  return ofUser !== undefined && databaseOf(ofUser) === databaseOf(given) ? ofUser : given;
}

function checkUrl(text: string, name: string): void {
  const {protocol = '', hostname = ''} = URL.canParse(text) ? new URL(text) : {};
  if (/^rediss?:$/.test(protocol) && hostname !== '') return;
  throw new UsageError(
    'redis_url',
    `${name} is not the URL of a Redis: expected redis://HOST:PORT, or rediss:// with TLS.`,
  );
}

/** The part of a URL that identifies a Redis database, without user and password. The default port is 6379. */
function databaseOf(url: string): string {
  const {protocol, hostname, port, pathname} = new URL(url);
  return [protocol, hostname, port || '6379', pathname.replace(/^\/$/, '')].join(' ');
}

/** With `0` in this variable, Node trusts every certificate. Others on the network could then read the key. */
export const UNCHECKED_TLS = 'NODE_TLS_REJECT_UNAUTHORIZED';

/** Warns if the environment asks Node not to check certificates. */
export function warnIfUncheckedTls(env: Env, warn: (sentence: string) => void): void {
  if (env[UNCHECKED_TLS] !== '0') return;
  warn(
    `${UNCHECKED_TLS} is ignored: certificates are checked. To trust an authority of your own, put its file into NODE_EXTRA_CA_CERTS.`,
  );
}

import {readFileSync} from 'node:fs';
import {systemReason, UsageError} from '../errors.ts';
import type {Settings} from './settings.ts';

export type Env = Readonly<Record<string, string | undefined>>;

/** The service to ask. The key is in no other place. */
export type Endpoint =
  | {
      readonly kind: 'embedded';
      readonly actionId?: string | undefined /** Nobody asked for it by name. */;
      readonly byDefault: boolean;
    }
  | {
      readonly kind: 'live';
      readonly baseUrl: string;
      readonly apiKey: string;
      readonly actionId?: string | undefined;
    };

const BASE_URL = 'BULK_ENRICH_BASE_URL';
const KEY = 'BULK_ENRICH_API_KEY';
const KEY_FILE = 'BULK_ENRICH_API_KEY_FILE';
const ACTION_ID = 'BULK_ENRICH_ACTION_ID';

/**
 * Finds out which service to ask, from the settings and the environment. With nothing configured a person at a terminal gets
 * the embedded service; anybody else has to say so, as a missing secret must not change what a nightly job does. `offline`:
 * the service is only named, so that it needs no key.
 *
 * @throws {UsageError} when the configuration is incomplete or contradicts itself.
 */
export function resolveEndpoint(
  given: Settings['endpoint'],
  actionId: string | undefined,
  env: Env,
  interactive: boolean,
  offline = false,
): Endpoint {
  for (const name of [BASE_URL, KEY, KEY_FILE, ACTION_ID]) {
    if (env[name]?.trim() === '')
      throw new UsageError('empty_variable', `${name} is set but empty. Set it, or unset it.`);
  }
  const action = actionId ?? (typeof given === 'object' ? given.action_id : undefined) ?? env[ACTION_ID];
  if (given === 'embedded') return {kind: 'embedded', actionId: action, byDefault: false};
  const named = typeof given === 'object' ? given.base_url : given === 'live' ? undefined : given;
  const baseUrl = named ?? env[BASE_URL];
  const apiKey = offline ? '' : readKey(env);
  if (baseUrl === undefined && !apiKey && given === undefined && interactive) {
    return {kind: 'embedded', actionId: action, byDefault: true};
  }
  if (baseUrl === undefined)
    throw new UsageError(
      'no_endpoint',
      !apiKey
        ? NOTHING
        : `${KEY} is set, but no URL: set ${BASE_URL} too, or ask the embedded service with --endpoint embedded.`,
    );
  if (apiKey === undefined)
    throw new UsageError(
      'no_key',
      `There is a base URL, but no key: set ${KEY}, or ${KEY_FILE} to a file that holds it.`,
    );
  return {kind: 'live', baseUrl, apiKey, actionId: action};
}

const NOTHING = `No service is configured. Set ${BASE_URL} and ${KEY}, or ask the embedded service with --endpoint embedded.`;

/**
 * The API key from the environment, or from the file that it names.
 *
 * @throws {UsageError} when both are set, or the file can't be read or is empty.
 */
export function readKey(env: Env): string | undefined {
  const key = env[KEY];
  const file = env[KEY_FILE];
  if (key !== undefined && file !== undefined)
    throw new UsageError('two_keys', `${KEY} and ${KEY_FILE} are both set: unset one.`);
  if (file === undefined) return key?.trim();
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(
      'key_file',
      `The key file ${file} (${KEY_FILE}) can't be read: ${systemReason(error)}.`,
    );
  }
  if (text === '') throw new UsageError('key_file', `The key file ${file} (${KEY_FILE}) is empty.`);
  return text;
}

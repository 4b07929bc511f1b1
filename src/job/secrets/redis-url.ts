import {UsageError} from '../../errors.ts';
import {type Env, refuseEmptyVariable} from '../endpoint.ts';

const VARIABLE = 'BULK_ENRICH_REDIS_URL';

/**
 * URL of a fleet's Redis: from the flag or job file, else from the environment. If both name the same Redis, the
 * environment's URL counts, since it may have a password. Undefined if neither names one, or the flag is `none`.
 * `flag`: the setting's name in messages.
 *
 * @throws {UsageError} if the text is not a URL of a Redis, or has a password where others can read it.
 */
export function resolveRedisUrl(given: string | undefined, flag: string, env: Env): string | undefined {
  if (given === 'none') return undefined;
  refuseEmptyVariable(VARIABLE, env);
  const own = env[VARIABLE]?.trim();
  if (own !== undefined) checkUrl(own, VARIABLE);
  if (given === undefined) return own;
  checkUrl(given, flag);
  if (new URL(given).password !== '')
    throw new UsageError(
      'redis_password',
      `${flag} holds a password, which others on this machine can see. Put the URL into ${VARIABLE}, and leave ${flag} out.`,
    );
  return own !== undefined && databaseOf(own) === databaseOf(given) ? own : given;
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

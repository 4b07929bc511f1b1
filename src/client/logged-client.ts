import type {Logger} from 'pino';
import type {Client} from './client.ts';

/** A client that logs each call: an answer at `trace`, anything else at `debug`. */
export function loggedClient(client: Client, log: Logger): Client {
  if (!log.isLevelEnabled('debug')) return client;
  return {
    ...client,
    async send(operation, params, onLeaving) {
      const attempt = await client.send(operation, params, onLeaving);
      const {kind, latencyMs} = attempt;
      const status = 'status' in attempt ? attempt.status : undefined;
      const code = 'code' in attempt ? attempt.code : undefined;
      log[kind === 'answered' ? 'trace' : 'debug'](
        {operation, outcome: kind, status, code, ms: Math.round(latencyMs)},
        'call',
      );
      return attempt;
    },
  };
}

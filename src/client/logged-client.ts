import type {Logger} from 'pino';
import {logEvent} from '../job/monitoring/log-events.ts';
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
      const fields = {operation, outcome: kind, status, code, ms: Math.round(latencyMs)};
      logEvent(log, kind === 'answered' ? 'call_answered' : 'call_failed', fields, 'call');
      return attempt;
    },
  };
}

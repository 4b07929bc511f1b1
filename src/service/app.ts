import {type Context, Hono} from 'hono';
import {bodyLimit} from 'hono/body-limit';
import type {ContentfulStatusCode} from 'hono/utils/http-status';
import {type Operation, wire} from '../client/wire.ts';
import type {Credits} from './credits.ts';
import {type ErrorCode, errorBody, errorStatus, ServiceError} from './errors.ts';
import {buildOpenApi} from './openapi.ts';
import {type Body, type KeyCheck, readBody} from './request.ts';

/** A body that is larger is refused. The interface shows no limit; ours is far above any real request. */
export const MAX_BODY_BYTES = 64 * 1024;

/** What a call comes to, once it was allowed. */
export interface Call {
  /** Test action ids make it free. */
  free: boolean;
  /** The success body. */
  answer(): object;
}

/** What the routes stand on. */
export interface Parts {
  key: KeyCheck;
  credits: Credits;
  /** By operation: checks a body and makes a call of it. */
  calls: {[O in Operation]: (body: Body) => Call};
  sources(): object;
  log(event: string, fields: Record<string, unknown>): void;
}

/** The service's routes: the interface's four operations, and our own outside its paths. */
export function createApp(parts: Parts): Hono {
  const app = new Hono();
  app.use(bodyLimit({maxSize: MAX_BODY_BYTES, onError: () => fail('body_too_large')}));
  for (const op of ['ip', 'phone', 'email', 'verify'] as const) {
    app.post(wire[op].path, context => serve(parts, op, context));
    app.all(wire[op].path, () => fail('method_not_allowed', {Allow: 'POST'}));
  }
  app.get('/openapi.json', context => context.json(buildOpenApi()));
  app.get('/_ledger', context => context.json(parts.credits.ledger()));
  app.get('/_sources', context => context.json(parts.sources()));
  app.notFound(() => fail('not_found'));
  app.onError(error => {
    if (error instanceof ServiceError) return fail(error.code, error.headers);
    parts.log('internal error', {error});
    return fail('internal_error');
  });
  return app;
}

/** One call: read, recognise, check, charge, answer. */
async function serve(parts: Parts, op: Operation, context: Context): Promise<Response> {
  try {
    const body = await readBody(context);
    parts.key.assert(body);
    const call = parts.calls[op](body);
    parts.credits.charge(op, call.free);
    return context.json(call.answer());
  } catch (error) {
    if (error instanceof ServiceError) parts.credits.rejected(op, error.code);
    throw error;
  }
}

/** The interface's error body, for whatever went wrong. */
export function fail(code: ErrorCode, headers: Record<string, string> = {}): Response {
  return Response.json(errorBody(code), {status: errorStatus[code] as ContentfulStatusCode, headers});
}

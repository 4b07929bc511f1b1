import type {HttpBindings} from '@hono/node-server';
import {type Context, Hono} from 'hono';
import {bodyLimit} from 'hono/body-limit';
import {type Operation, operationNames, wire} from '../client/wire.ts';
import {fail, failAsGateway, lose} from './answers.ts';
import type {Credits} from './credits.ts';
import {ServiceError} from './errors.ts';
import {buildOpenApi} from './openapi.ts';
import type {Practice} from './practice.ts';
import {type Body, type Call, type KeyCheck, readBody} from './request.ts';
import type {Throttle} from './throttle.ts';

/** A body that is larger is refused. The interface shows no limit; ours is far above any real request. */
const MAX_BODY_BYTES = 64 * 1024;

/** The same for sessions that are added: some ten thousand at a time. */
const MAX_SESSIONS_BYTES = 8 * 1024 * 1024;

type Env = {Bindings: HttpBindings};

/** What the routes stand on. */
export interface Parts {
  key: KeyCheck;
  credits: Credits;
  practice: Practice;
  throttle: Throttle | undefined;
  /** By operation: checks a body and makes a call of it. */
  calls: Record<Operation, (body: Body) => Call>;
  /** Takes sessions over and returns how many. */
  addSessions(body: Body): number;
  sources(): object;
  log(event: string, fields: Record<string, unknown>): void;
}

/** The service's routes: the interface's four operations, and our own outside its paths. */
export function createApp(parts: Parts): Hono<Env> {
  const app = new Hono<Env>();
  for (const op of operationNames) {
    app.post(wire[op].path, limit(MAX_BODY_BYTES), context => serve(parts, op, context));
    app.all(wire[op].path, () => fail('method_not_allowed', {Allow: 'POST'}));
  }
  app.post('/_sessions', limit(MAX_SESSIONS_BYTES), async context => {
    const body = await readBody(context);
    parts.key.assert(body);
    return context.json({success: true, added: parts.addSessions(body)});
  });
  for (const [path, answer] of pages(parts)) {
    app.get(path, context => context.json(answer()));
    app.all(path, () => fail('method_not_allowed', {Allow: 'GET, HEAD'}));
  }
  app.all('/_sessions', () => fail('method_not_allowed', {Allow: 'POST'}));
  app.notFound(() => fail('not_found'));
  app.onError(error => answerError(parts, error));
  return app;
}

const limit = (maxSize: number): ReturnType<typeof bodyLimit> =>
  bodyLimit({maxSize, onError: () => fail('body_too_large')});

const pages = ({credits, sources}: Parts): [string, () => object][] => [
  ['/openapi.json', buildOpenApi],
  ['/_ledger', () => credits.ledger()],
  ['/_sources', sources],
];

/** One call: let through, read, recognise, check, charge, answer. What is turned down costs nothing. */
async function serve(parts: Parts, op: Operation, context: Context<Env>): Promise<Response> {
  const {throttle, key, calls, credits, practice} = parts;
  let response: Response;
  try {
    throttle?.take();
    const body = await readBody(context);
    key.assert(body);
    const call = calls[op](body);
    const fault = practice.fault();
    if (fault && 'refusal' in fault) throw fault.refusal;
    credits.charge(op, call.free);
    response = context.json(call.answer());
    await practice.wait();
    if (fault) {
      credits.unanswered(op);
      return await lose(fault.loss, response, context.env.outgoing);
    }
  } catch (error) {
    if (error instanceof ServiceError) credits.rejected(op, error.code);
    response = answerError(parts, error as Error);
  }
  for (const [name, value] of Object.entries(throttle?.headers() ?? {})) response.headers.set(name, value);
  return response;
}

/** A failure that was foreseen says its code; any other is told to the log alone. */
function answerError({log}: Parts, error: Error): Response {
  if (!(error instanceof ServiceError)) {
    log('internal error', {error});
    return fail('internal_error');
  }
  return error.code === 'practice_bad_gateway' ? failAsGateway() : fail(error.code, error.headers);
}

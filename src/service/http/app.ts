import type {IncomingMessage} from 'node:http';
import {isIP} from 'node:net';
import type {HttpBindings} from '@hono/node-server';
import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import {type Context, Hono} from 'hono';
import {getPath} from 'hono/utils/url';
import {type Operation, operationNames, operations} from '../../operations/table.ts';
import type {Credits} from '../credits.ts';
import {buildFileSchemas, buildOpenApi} from '../pages.ts';
import type {Practice, Throttle} from './practice.ts';
import {errorResponse, failureReply, type Reply, ServiceError, sendReply, successReply} from './reply.ts';
import {type Body, readBody, type ServiceCall} from './request.ts';

/** The interface states no maximum; this one is far above any real request. */
const MAX_BODY_BYTES = 64 * 1024;

/** Enough for some ten thousand sessions. */
const MAX_SESSIONS_BYTES = 8 * 1024 * 1024;

type HttpEnv = {Bindings: HttpBindings};

export interface AppParts {
  /** @throws ServiceError if a body lacks the service's key */
  assertKey(body: Body): void;
  credits: Credits;
  practice: Practice;
  throttle: Throttle | undefined;
  /** By operation: a function that checks a body and returns its call. */
  calls: Record<Operation, (body: Body) => ServiceCall>;
  addSessions(body: Body): number;
  sources(): object;
  log(event: string, fields: Record<string, unknown>): void;
}

/** The four operations of the interface, and our own routes. Each also exists with the path `base` before it. */
export function createApp(
  parts: AppParts,
  {base, host, withPages = true}: {base: string; host: string; withPages: boolean | undefined},
): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>({
    getPath: request => {
      const path = getPath(request);
      return base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path;
    },
  });
  for (const [method, path, handle] of listRoutes(parts, host, withPages)) {
    app.on(method, path, handle);
    app.all(path, () =>
      errorResponse('method_not_allowed', {Allow: method === 'GET' ? 'GET, HEAD' : method}),
    );
  }
  app.notFound(() => errorResponse('not_found'));
  app.onError(error => {
    parts.log('internal error', {error});
    return errorResponse('internal_error');
  });
  return app;
}

/**
 * True if a request's Host is an address, `localhost`, or the service's own name. A website could point any other
 * name to this machine, so that the website's script in a visitor's browser reads the pages (DNS rebinding).
 */
function isOwnName(header: string, host: string): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return isIP(name.replace(/^\[|\]$/g, '')) > 0 || name === 'localhost' || name === host.toLowerCase();
}

type Route = [method: 'GET' | 'POST', path: string, handle: (context: Context<HttpEnv>) => Promise<Response>];

function listRoutes(parts: AppParts, host: string, withPages: boolean): Route[] {
  const page = (path: string, make: () => object): Route => [
    'GET',
    path,
    async context =>
      isOwnName(context.req.header('host') ?? '', host) ? context.json(make()) : errorResponse('wrong_host'),
  ];
  const pages = [
    page('/openapi.json', buildOpenApi),
    page('/_ledger', () => parts.credits.ledger()),
    page('/_sources', parts.sources),
    page('/_schemas', buildFileSchemas),
  ];
  return [
    ...operationNames.map(op => post(operations[op].path, incoming => serve(parts, op, incoming))),
    post('/_sessions', incoming => takeSessions(parts, incoming)),
    // For programs that run the service, such as Kubernetes. They reveal nothing, so --no-pages keeps them.
    ...['/healthz', '/readyz'].map((path): Route => ['GET', path, async context => context.text('ok\n')]),
    ...(withPages ? pages : []),
  ];
}

/** Writes the reply to Node's own response, which takes half the time of a web `Response`. */
const post = (path: string, reply: (incoming: IncomingMessage) => Promise<Reply>): Route => [
  'POST',
  path,
  async ({env: {incoming, outgoing}}) => {
    sendReply(outgoing, await reply(incoming));
    return RESPONSE_ALREADY_SENT;
  },
];

/** Makes one call: throttle, read the body, check key and fields, charge, answer. Rejected calls cost nothing. */
async function serve(parts: AppParts, op: Operation, incoming: IncomingMessage): Promise<Reply> {
  const {throttle, calls, credits, practice} = parts;
  const reply = await failSafe(parts, async () => {
    throttle?.take();
    const body = await readBody(incoming, MAX_BODY_BYTES);
    parts.assertKey(body);
    const call = calls[op](body);
    const fault = practice.fault();
    if (fault instanceof ServiceError) throw fault;
    credits.charge(op, call.free);
    const answered = successReply(call.answer());
    await practice.wait();
    if (fault !== undefined) credits.unanswered(op);
    return {...answered, loss: fault};
  });
  if (reply.code !== undefined) credits.rejected(op, reply.code);
  Object.assign(reply.headers, throttle?.headers());
  return reply;
}

function takeSessions(parts: AppParts, incoming: IncomingMessage): Promise<Reply> {
  return failSafe(parts, async () => {
    const body = await readBody(incoming, MAX_SESSIONS_BYTES);
    parts.assertKey(body);
    return successReply({success: true, added: parts.addSessions(body)});
  });
}

/** Only the log gets the details of a failure that is not a {@link ServiceError}. */
async function failSafe({log}: AppParts, operate: () => Promise<Reply>): Promise<Reply> {
  try {
    return await operate();
  } catch (error) {
    if (error instanceof ServiceError) return failureReply(error);
    log('internal error', {error});
    return failureReply(new ServiceError('internal_error'));
  }
}

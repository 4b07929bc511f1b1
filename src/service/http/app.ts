import type {IncomingMessage} from 'node:http';
import {isIP} from 'node:net';
import type {HttpBindings} from '@hono/node-server';
import {RESPONSE_ALREADY_SENT} from '@hono/node-server/utils/response';
import {type Context, Hono} from 'hono';
import {getPath} from 'hono/utils/url';
import {type Operation, operationNames, operations} from '../../operations/table.ts';
import type {Credits} from '../credits.ts';
import {buildFileSchemas, buildOpenApi} from './openapi.ts';
import {type LostAnswerFault, loseReply, type Practice, type Throttle} from './practice.ts';
import {
  errorResponse,
  failureReply,
  type Reply,
  ServiceError,
  type ServiceErrorCode,
  sendReply,
  successReply,
} from './reply.ts';
import {type Body, type KeyCheck, readBody, type ServiceCall} from './request.ts';

/** Maximum size of a body. The paid service's interface states none; this one is far above any real request. */
const MAX_BODY_BYTES = 64 * 1024;

/** Maximum size of a body that adds sessions: enough for some ten thousand sessions. */
const MAX_SESSIONS_BYTES = 8 * 1024 * 1024;

type HttpEnv = {Bindings: HttpBindings};

export interface AppParts {
  key: KeyCheck;
  credits: Credits;
  practice: Practice;
  throttle: Throttle | undefined;
  /** By operation: a function that checks a body and returns its call. */
  calls: Record<Operation, (body: Body) => ServiceCall>;
  /** Adds sessions, and returns their number. */
  addSessions(body: Body): number;
  sources(): object;
  log(event: string, fields: Record<string, unknown>): void;
}

/**
 * The service's routes: the four operations of the paid service's interface, and our own routes. Each route also
 * exists with the path `base` before it.
 */
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
  for (const op of operationNames) {
    app.post(operations[op].path, context => answer(context, incoming => serve(parts, op, incoming)));
    app.all(operations[op].path, () => errorResponse('method_not_allowed', {Allow: 'POST'}));
  }
  app.post('/_sessions', context => answer(context, incoming => takeSessions(parts, incoming)));
  app.all('/_sessions', () => errorResponse('method_not_allowed', {Allow: 'POST'}));
  for (const path of probes) {
    app.get(path, context => context.text('ok\n'));
    app.all(path, () => errorResponse('method_not_allowed', {Allow: 'GET, HEAD'}));
  }
  for (const [path, page] of withPages ? pages(parts) : []) {
    app.get(path, context =>
      isOwnName(context.req.header('host') ?? '', host) ? context.json(page()) : errorResponse('wrong_host'),
    );
    app.all(path, () => errorResponse('method_not_allowed', {Allow: 'GET, HEAD'}));
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

/** Probes for programs that run the service, such as Kubernetes. They reveal nothing, so --no-pages keeps them. */
const probes = ['/healthz', '/readyz'];

/** Pages that need no key. */
const pages = ({credits, sources}: AppParts): [string, () => object][] => [
  ['/openapi.json', buildOpenApi],
  ['/_ledger', () => credits.ledger()],
  ['/_sources', sources],
  ['/_schemas', buildFileSchemas],
];

/** An operation's answer. `loss`: the fault, caused by the option `errorRate`, that loses the answer. */
interface Served {
  reply: Reply;
  loss?: LostAnswerFault | undefined;
}

/** Writes the answer to Node's own response, which takes half the time of a web `Response`. */
async function answer(
  {env: {incoming, outgoing}}: Context<HttpEnv>,
  operate: (incoming: IncomingMessage) => Promise<Served>,
): Promise<Response> {
  const {reply, loss} = await operate(incoming);
  if (loss === undefined) sendReply(outgoing, reply);
  else loseReply(loss, reply, outgoing);
  return RESPONSE_ALREADY_SENT;
}

/** Makes one call: throttle, read the body, check key and fields, charge, answer. Rejected calls cost nothing. */
async function serve(parts: AppParts, op: Operation, incoming: IncomingMessage): Promise<Served> {
  const {throttle, key, calls, credits, practice} = parts;
  const served = await attempt(parts, async () => {
    throttle?.take();
    const body = await readBody(incoming, MAX_BODY_BYTES);
    key.assert(body);
    const call = calls[op](body);
    const fault = practice.fault();
    if (fault instanceof ServiceError) throw fault;
    credits.charge(op, call.free);
    const reply = successReply(call.answer());
    await practice.wait();
    if (fault !== undefined) credits.unanswered(op);
    return {reply, loss: fault};
  });
  if (served.rejected) credits.rejected(op, served.rejected);
  Object.assign(served.reply.headers, throttle?.headers());
  return served;
}

async function takeSessions(parts: AppParts, incoming: IncomingMessage): Promise<Served> {
  return attempt(parts, async () => {
    const body = await readBody(incoming, MAX_SESSIONS_BYTES);
    parts.key.assert(body);
    return {reply: successReply({success: true, added: parts.addSessions(body)})};
  });
}

/**
 * Runs `operate`. An expected failure ({@link ServiceError}) is answered with its code. Any other is answered with
 * `internal_error`, and only the log gets its details.
 */
async function attempt(
  {log}: AppParts,
  operate: () => Promise<Served>,
): Promise<Served & {rejected?: ServiceErrorCode}> {
  try {
    return await operate();
  } catch (error) {
    const foreseen = error instanceof ServiceError ? error : new ServiceError('internal_error');
    if (foreseen !== error) log('internal error', {error});
    return {reply: failureReply(foreseen), rejected: foreseen.code};
  }
}

import type {IncomingMessage} from 'node:http';
import {isIP} from 'node:net';
import {type Operation, operationNames, operations} from '../../operations/table.ts';
import type {Credits} from '../credits.ts';
import {buildFileSchemas, buildOpenApi} from '../pages.ts';
import type {Practice, Throttle} from './practice.ts';
import {failureReply, jsonReply, type Reply, ServiceError} from './reply.ts';
import {type Body, readBody, type ServiceCall} from './request.ts';

/** The interface states no maximum; this one is far above any real request. */
const MAX_BODY_BYTES = 64 * 1024;

/** Enough for some ten thousand sessions. */
const MAX_SESSIONS_BYTES = 8 * 1024 * 1024;

export interface RouterParts {
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

/** A way to answer the requests of one path. */
interface Route {
  readonly path: string;
  /** The methods as in the header `Allow`. */
  readonly allow: 'POST' | 'GET, HEAD';
  readonly answer: (incoming: IncomingMessage) => Promise<Reply>;
}

/**
 * The four operations of the interface, and our own routes. Each also exists with the path `base` before it.
 * A framework for these few exact paths took a fifth of the service's start.
 */
export function createRouter(
  parts: RouterParts,
  {base, host, withPages = true}: {base: string; host: string; withPages: boolean | undefined},
): (incoming: IncomingMessage) => Promise<Reply> {
  const routes = new Map(listRoutes(parts, host, withPages).map(route => [route.path, route]));
  return incoming =>
    failSafe(parts, async () => {
      const path = pathOf(incoming);
      const route = routes.get(base !== '' && path.startsWith(`${base}/`) ? path.slice(base.length) : path);
      if (route === undefined) throw new ServiceError('not_found');
      if (!route.allow.split(', ').includes(incoming.method ?? ''))
        throw new ServiceError('method_not_allowed', {Allow: route.allow});
      return await route.answer(incoming);
    });
}

/** @throws ServiceError `malformed_request` if host and path are not those of a URL */
function pathOf({url = '', headers: {host = ''}}: IncomingMessage): string {
  const origin = `http://${host}`;
  if (!URL.canParse(url, origin)) throw new ServiceError('malformed_request');
  return new URL(url, origin).pathname;
}

/**
 * True if a request's Host is an address, `localhost`, or the service's own name. A website could point any other
 * name to this machine, so that the website's script in a visitor's browser reads the pages (DNS rebinding).
 */
function isOwnName(header: string, host: string): boolean {
  const name = header.replace(/:\d+$/, '').toLowerCase();
  return isIP(name.replace(/^\[|\]$/g, '')) > 0 || name === 'localhost' || name === host.toLowerCase();
}

function listRoutes(parts: RouterParts, host: string, withPages: boolean): Route[] {
  const get = (path: string, answer: Route['answer']): Route => ({path, allow: 'GET, HEAD', answer});
  const post = (path: string, answer: Route['answer']): Route => ({path, allow: 'POST', answer});
  const page = (path: string, make: () => object) =>
    get(path, async ({headers}) => {
      if (!isOwnName(headers.host ?? '', host)) throw new ServiceError('wrong_host');
      return jsonReply(make());
    });
  const ok = async () => ({
    status: 200,
    body: 'ok\n',
    headers: {'Content-Type': 'text/plain; charset=UTF-8'},
  });
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
    get('/healthz', ok),
    get('/readyz', ok),
    ...(withPages ? pages : []),
  ];
}

/** Makes one call: throttle, read the body, check key and fields, charge, answer. Rejected calls cost nothing. */
async function serve(parts: RouterParts, op: Operation, incoming: IncomingMessage): Promise<Reply> {
  const {throttle, calls, credits, practice} = parts;
  const reply = await failSafe(parts, async () => {
    throttle?.take();
    const body = await readBody(incoming, MAX_BODY_BYTES);
    parts.assertKey(body);
    const call = calls[op](body);
    const fault = practice.nextFault();
    if (fault instanceof ServiceError) throw fault;
    credits.charge(op, call.free);
    const answered = jsonReply(call.answer());
    await practice.wait();
    if (fault !== undefined) credits.unanswered(op);
    return {...answered, loss: fault};
  });
  if (reply.code !== undefined) credits.rejected(op, reply.code);
  Object.assign(reply.headers, throttle?.headers());
  return reply;
}

async function takeSessions(parts: RouterParts, incoming: IncomingMessage): Promise<Reply> {
  const body = await readBody(incoming, MAX_SESSIONS_BYTES);
  parts.assertKey(body);
  return jsonReply({success: true, added: parts.addSessions(body)});
}

/** Only the log gets the details of a failure that is not a {@link ServiceError}. */
async function failSafe({log}: RouterParts, operate: () => Promise<Reply>): Promise<Reply> {
  try {
    return await operate();
  } catch (error) {
    if (error instanceof ServiceError) return failureReply(error);
    log('internal error', {error});
    return failureReply(new ServiceError('internal_error'));
  }
}

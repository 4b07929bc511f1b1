import {isUtf8} from 'node:buffer';
import {hash, timingSafeEqual} from 'node:crypto';
import type {IncomingMessage} from 'node:http';
import type {z} from 'zod';
import {ServiceError, type ServiceErrorCode} from './reply.ts';

/** A request's body: the fields of a JSON object. A field that is null or an empty text counts as not sent. */
export type Body = Record<string, unknown>;

export interface ServiceCall {
  /** True for a call with a test action id, which costs nothing. */
  free: boolean;
  /** Makes all changes of the call, and returns its success body. */
  answer(): object;
}

/**
 * Reads a JSON object.
 * @param limit maximum bytes of the body
 * @throws ServiceError `unsupported_media_type`, `body_too_large`, `malformed_body`; `malformed_request` if it is
 * cut off
 */
export async function readBody(incoming: IncomingMessage, limit: number): Promise<Body> {
  const {'content-type': type = '', 'content-length': length = '0'} = incoming.headers;
  if (!jsonType.test(type)) throw new ServiceError('unsupported_media_type');
  if (Number(length) > limit) throw new ServiceError('body_too_large');
  const body = parse(await readBytes(incoming, limit));
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('malformed_body');
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null && value !== ''));
}

const jsonType = /^application\/json\s*(?:;|$)/i;

function readBytes(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) chunks.push(chunk);
      else {
        chunks = [];
        reject(new ServiceError('body_too_large'));
      }
    });
    incoming.on('end', () => resolve(Buffer.concat(chunks)));
    incoming.on('close', () => {
      if (!incoming.complete) reject(new ServiceError('malformed_request'));
    });
  });
}

/** Parses JSON. Refuses bytes that are not UTF-8: decoding would replace them, and change the value to look up. */
function parse(bytes: Buffer): unknown {
  try {
    if (isUtf8(bytes)) return JSON.parse(bytes.toString());
  } catch {}
  throw new ServiceError('malformed_body');
}

/**
 * Checks keys by digests of equal length, in a time that reveals nothing about them. The check throws ServiceError:
 * `missing_field` for a missing or empty key, `invalid_token` for a wrong one.
 */
export function createKeyCheck(apiKey: string): (body: Body) => void {
  const expected = digest(apiKey);
  return ({api_key: key}) => {
    if (key === undefined) throw new ServiceError('missing_field');
    if (typeof key !== 'string' || !timingSafeEqual(digest(key), expected))
      throw new ServiceError('invalid_token');
  };
}

const digest = (text: string): Buffer => hash('sha256', text, 'buffer');

/** @throws ServiceError `missing_field`, `invalid_field`, or `invalid_ip` */
export function checkBody<T>(schema: z.ZodType<T>, body: Body): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new ServiceError(codeOf(result.error, body));
}

function codeOf({issues}: z.ZodError, body: Body): ServiceErrorCode {
  const fields = issues.map(issue => String(issue.path[0]));
  if (fields.some(field => body[field] === undefined)) return 'missing_field';
  return fields[0] === 'ip' && typeof body['ip'] === 'string' ? 'invalid_ip' : 'invalid_field';
}

import {createHash, timingSafeEqual} from 'node:crypto';
import type {Context} from 'hono';
import type {z} from 'zod';
import {type ErrorCode, ServiceError} from './errors.ts';

/** A request's body: a JSON object. */
export type Body = Record<string, unknown>;

/** What a call comes to, once its body was checked. */
export interface Call {
  /** Test action ids make it free. */
  free: boolean;
  /** Makes the success body, and with it whatever the call changes. */
  answer(): object;
}

/**
 * Reads a body that must be a JSON object.
 * @throws ServiceError `unsupported_media_type` or `malformed_body`
 */
export async function readBody(context: Context): Promise<Body> {
  const type = context.req.header('content-type') ?? '';
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type))
    throw new ServiceError('unsupported_media_type');
  const body = parse(await context.req.text());
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw new ServiceError('malformed_body');
  return body as Body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ServiceError('malformed_body');
  }
}

/** Compares keys in a time that tells nothing about them: their digests, which are of one length. */
export class KeyCheck {
  readonly #digest: Buffer;

  constructor(key: string) {
    this.#digest = digest(key);
  }

  /**
   * @throws ServiceError `missing_field` without a key, `invalid_token` for another key or one that is no text
   */
  assert(body: Body): void {
    const {api_key: key} = body;
    if (key === undefined) throw new ServiceError('missing_field');
    if (typeof key !== 'string' || !timingSafeEqual(digest(key), this.#digest)) {
      throw new ServiceError('invalid_token');
    }
  }
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/**
 * Holds a body against an operation's schema.
 * @throws ServiceError `missing_field`, `invalid_field`, or `invalid_ip`
 */
export function checkBody<T>(schema: z.ZodType<T>, body: Body): T {
  const result = schema.safeParse(body);
  if (result.success) return result.data;
  throw new ServiceError(codeOf(result.error, body));
}

function codeOf({issues}: z.ZodError, body: Body): ErrorCode {
  const fields = issues.map(issue => String(issue.path[0]));
  const isAbsent = (field: string): boolean => body[field] === undefined || body[field] === '';
  if (fields.some(isAbsent)) return 'missing_field';
  return fields[0] === 'ip' && typeof body['ip'] === 'string' ? 'invalid_ip' : 'invalid_field';
}

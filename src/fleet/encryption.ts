import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';
import {UsageError} from '../errors.ts';
import {readKey} from '../job/api-key.ts';
import type {Endpoint, Env} from '../job/endpoint.ts';
import {say, setting} from '../sentence.ts';

/** Encrypts ("seals") messages about rows between a fleet's members, so that Redis holds nothing readable. */
export interface Seal {
  /** Seals a value for the purpose `as`. The sealed text opens for no other purpose. */
  close(value: unknown, as: string): string;
  /** Returns undefined for a text that was changed, or sealed with another key or for another purpose. */
  open(sealed: string, as: string): unknown;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** The length that NIST SP 800-38D recommends for GCM. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Minimum length of a secret: who reads a sealed text in Redis can try secrets on it. */
const SHORTEST_SECRET = 16;

/**
 * The API key, which every member has in its own environment. The embedded service has none, but its values are just
 * as private.
 * @throws {UsageError} if there is no secret, or a short one
 */
export function sealingSecret(endpoint: Endpoint, env: Env): string {
  const secret = endpoint.kind === 'live' ? endpoint.apiKey : readKey(env);
  if (secret !== undefined && secret.length >= SHORTEST_SECRET) return secret;
  if (endpoint.kind === 'live')
    throw new UsageError(
      'fleet_secret',
      say`A fleet encrypts the values in Redis with the API key, and a key of less than ${SHORTEST_SECRET} characters can be guessed. Run without ${setting('fleet')}.`,
    );
  throw new UsageError(
    'fleet_secret',
    `A fleet encrypts the values in Redis with the API key, but the embedded service needs no key, so there is none. Set BULK_ENRICH_API_KEY to a secret of at least ${SHORTEST_SECRET} characters, the same for the run and its workers (openssl rand -hex 32 makes one).`,
  );
}

/** All members derive the same key from the secret, which is never sent. */
export function createSeal(secret: string): Seal {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'bulk-enrich fleet seal', KEY_BYTES));
  return {
    close(value, as) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce).setAAD(Buffer.from(as));
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed, as) {
      try {
        const bytes = Buffer.from(sealed, 'base64');
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), {
          authTagLength: TAG_BYTES,
        });
        decipher.setAAD(Buffer.from(as)).setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8'));
      } catch {
        return undefined;
      }
    },
  };
}

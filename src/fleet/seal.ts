import {createCipheriv, createDecipheriv, hkdfSync, randomBytes} from 'node:crypto';

/** Seals what a fleet's members tell each other of rows, so that Redis holds nothing readable. */
export interface Seal {
  close(value: unknown): string;
  /** @throws {UnsealError} when it was sealed with another key. */
  open(sealed: string): unknown;
  /** The same for all who have the same key; says nothing of it. */
  readonly fingerprint: string;
}

/** Something was sealed with another API key. */
class UnsealError extends Error {
  constructor(options?: ErrorOptions) {
    super('sealed with another API key', options);
  }
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
/** What NIST SP 800-38D recommends for GCM. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const FINGERPRINT_BYTES = 8;

/** The sealing key comes from the API key, which every member has from its own environment, and never travels. */
export function sealWith(apiKey: string): Seal {
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', apiKey, '', `bulk-enrich fleet ${purpose}`, bytes));
  const key = derive('seal', KEY_BYTES);
  return {
    fingerprint: derive('fingerprint', FINGERPRINT_BYTES).toString('hex'),
    close(value) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const text = Buffer.concat([cipher.update(JSON.stringify(value), 'utf8'), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
    },
    open(sealed) {
      const bytes = Buffer.from(sealed, 'base64');
      try {
        const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES));
        decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
        return JSON.parse(Buffer.concat([text, decipher.final()]).toString('utf8'));
      } catch (error) {
        throw new UnsealError({cause: error});
      }
    },
  };
}

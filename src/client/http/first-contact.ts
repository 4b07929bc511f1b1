import type {Socket} from 'node:net';
import {connect, type PeerCertificate, type TLSSocket} from 'node:tls';
import type {Failure} from '../attempt.ts';
import {isCertificateError, NEEDS_TLS, NO_TLS} from '../classify.ts';
import {onAbort} from '../on-abort.ts';
import {CHECKED_TLS_OPTIONS} from './proxy.ts';

/** Maximum milliseconds for the handshake that shows if a port speaks TLS. */
const HANDSHAKE_MS = 2_000;

/**
 * Until the service's first answer, a port that speaks TLS where the URL says `http:`, or none where it says `https:`,
 * is a wrong URL. Later it is a service that is away.
 */
export class FirstContact {
  isMade = false;

  /** The failure that a response or failure really is; undefined if it is what it seems. `until`: when the call ends. */
  async judge(
    {kind, code, status}: Contacted,
    url: URL,
    until = Number.POSITIVE_INFINITY,
    signal?: AbortSignal,
  ): Promise<Failure | undefined> {
    if (status !== undefined && status < 400) this.isMade = true;
    if (this.isMade) return undefined;
    if (status === 407) return {kind: 'fatal', reason: 'proxy', code: 'http_407', latencyMs: 0};
    const isBroken = kind !== undefined && kind !== 'fatal' && code !== 'timeout' && code !== 'aborted';
    // Servers of TLS close a connection that begins with plain HTTP, or answer it with 400.
    const isAsked = url.protocol === 'http:' && (isBroken || status === 400);
    const leftMs = Math.min(HANDSHAKE_MS, until - performance.now());
    const needsTls = isAsked && leftMs > 0 && (await speaksTls(url, leftMs, signal));
    if (!needsTls && code !== NO_TLS) return undefined;
    return {kind: 'fatal', reason: 'wrong_protocol', code: needsTls ? NEEDS_TLS : NO_TLS, latencyMs: 0};
  }
}

interface Contacted {
  readonly kind?: Failure['kind'] | 'answered';
  readonly code?: string;
  readonly status?: number | undefined;
}

/** True if the server makes a TLS handshake, also with a certificate that can't be trusted. Sends nothing after it. */
function speaksTls({hostname, port}: URL, timeout: number, signal?: AbortSignal): Promise<boolean> {
  return new Promise(resolve => {
    const host = hostname.replace(/^\[|\]$/g, '');
    const socket = connect({...CHECKED_TLS_OPTIONS, host, port: Number(port || 80), timeout});
    const forget = onAbort(signal, () => socket.destroy());
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    socket.once('error', ({code = ''}: NodeJS.ErrnoException) => end(isCertificateError(code)));
    socket.once('timeout', () => socket.destroy());
    socket.once('close', () => {
      forget();
      resolve(false);
    });
  });
}

/** Returns a function for the time limit (ISO) that a certificate of this connection does not keep, if any. */
export function watchCertificate(socket: Socket): () => string | undefined {
  let limit: string | undefined;
  // Node refuses the certificate in a listener of its own, and then the socket no longer has it.
  if ('encrypted' in socket)
    socket.prependOnceListener('secure', () => {
      limit = brokenLimit((socket as TLSSocket).getPeerCertificate(true));
    });
  return () => limit;
}

function brokenLimit(certificate: Partial<PeerCertificate>): string | undefined {
  const now = Date.now();
  const {valid_from: from = '', valid_to: to = ''} = certificate;
  const isBroken = now < Date.parse(from) || now > Date.parse(to);
  if (isBroken) return new Date(now < Date.parse(from) ? from : to).toISOString();
  const issuer = (certificate as {issuerCertificate?: PeerCertificate}).issuerCertificate;
  return issuer === undefined || issuer === certificate ? undefined : brokenLimit(issuer);
}

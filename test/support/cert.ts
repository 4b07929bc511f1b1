import {generateKeyPairSync, randomBytes, sign} from 'node:crypto';
import {isIPv4} from 'node:net';

const YEAR_MS = 365.25 * 24 * 3600 * 1000;

export interface CertificateOptions {
  /** Host names and IPv4 addresses that the certificate is for. */
  readonly hosts?: readonly string[];
  /** Its validity, in years from now. */
  readonly years?: readonly [from: number, to: number];
}

/**
 * A fresh self-signed certificate and its key, as PEM, for TLS tests. Node can read X.509 but not write it, so the
 * few DER structures of RFC 5280 are written here; no private key needs to be kept in the repository.
 */
export function makeCertificate(options: CertificateOptions = {}) {
  const {hosts = ['localhost', '127.0.0.1'], years = [-1, 1]} = options;
  const {privateKey, publicKey} = generateKeyPairSync('ec', {namedCurve: 'P-256'});
  const times = years.map(from => time(new Date(Date.now() + from * YEAR_MS)));
  const body = der(
    SEQUENCE,
    der(0xa0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    nameOf('localhost'),
    der(SEQUENCE, ...times),
    nameOf('localhost'),
    publicKey.export({type: 'spki', format: 'der'}),
    der(0xa3, der(SEQUENCE, basicConstraints, altNames(hosts))),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = der(SEQUENCE, body, ecdsaWithSha256, bits(signature));
  return {
    key: privateKey.export({type: 'pkcs8', format: 'pem'}).toString(),
    cert: pem('CERTIFICATE', certificate),
  };
}

const integer = (value: Buffer) => der(0x02, value);
const bits = (value: Buffer) => der(0x03, Buffer.from([0]), value);
const octets = (value: Buffer) => der(0x04, value);

const SEQUENCE = 0x30;
const SET = 0x31;
/** 1.2.840.10045.4.3.2 (RFC 5758) */
const ecdsaWithSha256 = der(SEQUENCE, oid('2a8648ce3d040302'));
/** 2.5.29.19, critical, CA: true, so that the certificate can be its own issuer */
const yes = der(0x01, Buffer.from([0xff]));
const basicConstraints = der(SEQUENCE, oid('551d13'), yes, octets(der(SEQUENCE, yes)));

/** 2.5.29.17: dNSName is [2], iPAddress is [7] */
function altNames(hosts: readonly string[]): Buffer {
  const names = hosts.map(host =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  return der(SEQUENCE, oid('551d11'), octets(der(SEQUENCE, ...names)));
}

/** A name that is one common name (2.5.4.3). */
function nameOf(commonName: string): Buffer {
  return der(SEQUENCE, der(SET, der(SEQUENCE, oid('550403'), der(0x0c, Buffer.from(commonName)))));
}

/** UTCTime, which is for years until 2049 (RFC 5280, 4.1.2.5). */
function time(date: Date): Buffer {
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}

function oid(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

/** Tag, length, contents. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const {length} = content;
  const long = length < 0x1_00 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...(length < 0x80 ? [length] : long)]), content]);
}

function pem(label: string, data: Buffer): string {
  const lines = data.toString('base64').match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

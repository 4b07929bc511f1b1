import {randomBytes} from 'node:crypto';
import {createServer, type Server} from 'node:http';
import type {AddressInfo} from 'node:net';
import {getRequestListener} from '@hono/node-server';
import type {ZodType} from 'zod';
import {type Operation, wire} from '../client/wire.ts';
import {type Call, createApp} from './app.ts';
import {Credits} from './credits.ts';
import {OpenData} from './data/open-data.ts';
import {ServiceError} from './errors.ts';
import {emailIntelligence} from './intelligence/email.ts';
import {ipIntelligence} from './intelligence/ip.ts';
import {phoneIntelligence} from './intelligence/phone.ts';
import {type Body, checkBody, KeyCheck} from './request.ts';

/** How to run the embedded service. */
export interface ServiceOptions {
  /** 0, the default, takes any free port. */
  port?: number;
  /** The address to listen on: this machine alone, unless told otherwise. */
  host?: string;
  /** The key it accepts; made up if left out. */
  apiKey?: string;
  /** Credits to begin with; no limit if left out. */
  credits?: number;
  /** Credits a call; 1 each if left out. */
  costs?: Partial<Record<Operation, number>>;
  /** Told what happens; never told a key or a value that was asked about. */
  log?: (event: string, fields: Record<string, unknown>) => void;
}

/** A running service. */
export interface Service {
  /** Its base URL, without a slash at the end. */
  url: string;
  apiKey: string;
  /** Stops it: open connections are cut. */
  close(): Promise<void>;
}

/** Starts the embedded service and resolves once it accepts calls. */
export async function startService(options: ServiceOptions = {}): Promise<Service> {
  const {port = 0, host = '127.0.0.1', apiKey = randomBytes(24).toString('base64url')} = options;
  const data = new OpenData();
  const credits = new Credits(
    {ip: 1, phone: 1, email: 1, verify: 1, ...options.costs},
    options.credits,
    () => {},
  );
  const app = createApp({
    key: new KeyCheck(apiKey),
    credits,
    calls: {
      ip: paid(wire.ip.request, ({ip}) => ipIntelligence(data, ip)),
      phone: paid(wire.phone.request, ({phone}) => phoneIntelligence(data, phone)),
      email: paid(wire.email.request, ({email}) => emailIntelligence(data, email)),
      verify: () => {
        throw new ServiceError('unknown_session');
      },
    },
    sources: () => ({}),
    log: options.log ?? (() => {}),
  });
  const server = createServer(getRequestListener(app.fetch, {overrideGlobalObjects: false}));
  await listen(server, port, host);
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    apiKey,
    close: () => closeServer(server),
  };
}

/** An intelligence operation: its body is checked, its answer wrapped in `data`, its cost taken. */
function paid<T>(schema: ZodType<T>, lookup: (request: T) => object): (body: Body) => Call {
  return body => {
    const request = checkBody(schema, body);
    return {free: false, answer: () => ({success: true, data: lookup(request)})};
  };
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

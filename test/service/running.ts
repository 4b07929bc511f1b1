import {mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {onTestFinished} from 'vitest';
import {type Service, type ServiceOptions, startService} from '../../src/service/start.ts';
import {ask, type Reply} from '../contract/target.ts';

/** A service that ends with its test. */
export async function running(options: ServiceOptions = {}): Promise<Service> {
  const service = await startService({apiKey: 'test-key', ...options});
  onTestFinished(() => service.close());
  return service;
}

/** A folder that ends with its test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-test-'));
  onTestFinished(() => rmSync(folder, {recursive: true, force: true}));
  return folder;
}

/** Asks a service for an address that is well known, and leaves its answer unread. */
export const fetchIp = ({url, apiKey}: Service, options: {readonly signal?: AbortSignal} = {}) =>
  fetch(`${url}/intelligence/ip`, {
    method: 'POST',
    headers: {'Content-Type': 'application/json'},
    body: JSON.stringify({api_key: apiKey, ip: '8.8.8.8'}),
    ...options,
  });

/** Asks a service with its key. */
export const askService = (
  {url, apiKey}: Service,
  path: string,
  body: Record<string, unknown>,
): Promise<Reply> => ask({baseUrl: url, apiKey, actionId: 'test'}, path, body);

import {type Client, type ClientOptions, createClient} from '../../client/client.ts';
import type {Endpoint} from '../../job/endpoint.ts';
import {endpointName} from '../identity.ts';
import type {RunIo} from '../io.ts';

/** A client for an endpoint, and what has to be closed after it. */
export interface Connection {
  readonly client: Client;
  /** What answers are kept under: the embedded service's are never taken for another's. */
  readonly scope: string;
  close(): Promise<void>;
}

/** Starts the embedded service in this process, and asks it over HTTP like any other. */
export async function connectTo(
  endpoint: Endpoint,
  options: Pick<ClientOptions, 'timeoutMs' | 'maxConnections' | 'unasked'>,
  transport?: RunIo['transport'],
): Promise<Connection> {
  if (endpoint.kind === 'live') {
    const {baseUrl, apiKey, readKeyAgain, keyFrom} = endpoint;
    const client = createClient({...options, baseUrl, apiKey, readKeyAgain, keyFrom}, transport);
    return {client, scope: endpointName(endpoint), close: async () => client.close()};
  }
  const {startService} = await import('../../service/start.ts');
  const service = await startService();
  const client = createClient({...options, baseUrl: service.url, apiKey: service.apiKey});
  return {
    client,
    scope: endpointName(endpoint),
    async close() {
      client.close();
      await service.close();
    },
  };
}

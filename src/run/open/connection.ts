import {type CallOptions, type Client, openClient} from '../../client/client.ts';
import type {Endpoint} from '../../job/endpoint.ts';
import type {AnswerStore} from '../../ledger/answers/store.ts';
import type {ValidityJudge} from '../../ledger/answers/validity.ts';
import type {Ledger} from '../../ledger/run/ledger.ts';
import type {LaneSettings} from '../../lookup/call.ts';
import type {RunIo} from '../io.ts';
import type {Account} from './account.ts';

export interface Connection {
  readonly client: Client;
  close(): Promise<void>;
}

/** Everything that lookups need, on this machine or in a fleet. Operations in one lane share a rate. */
export interface LookupNeeds {
  readonly connection: Connection;
  readonly account: Account | undefined;
  readonly ledger: Ledger;
  readonly lanes: readonly LaneSettings[];
  readonly store: AnswerStore;
  readonly judge: ValidityJudge;
}

/** Connects to an endpoint. Starts the embedded service in this process, to call it over HTTP like any other. */
export async function openConnection(
  endpoint: Endpoint,
  options: CallOptions,
  transport?: RunIo['transport'],
): Promise<Connection> {
  if (endpoint.kind === 'live') {
    const {baseUrl, apiKey, keyFrom} = endpoint;
    const client = openClient({...options, baseUrl, apiKey, keyFrom}, transport);
    return {client, close: async () => client.close()};
  }
  const {startService} = await import('../../service/start.ts');
  const service = await startService();
  const client = openClient({...options, baseUrl: service.url, apiKey: service.apiKey});
  return {
    client,
    async close() {
      client.close();
      await service.close();
    },
  };
}

const UNASKED =
  'The service sent an answer without a call, for example the same answer twice. From now on no connection is used twice. Earlier answers are right, unless such an extra answer came while the next call was on its way. Tell the operator of the service.';

/** Returns a function that warns the user, the first time it is called, of answers without a call. */
export function createUnaskedWarning(warn: (sentence: string) => void): () => void {
  let isTold = false;
  return () => {
    if (!isTold) warn(UNASKED);
    isTold = true;
  };
}

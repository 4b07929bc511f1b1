/** A running service that the contract is held against. */
export interface Target {
  /** Without a slash at the end. */
  baseUrl: string;
  apiKey: string;
  /** The client's own action identifier, for verdicts that are no test calls. */
  actionId: string;
  /** A session token that was never verified; left out where none can be had, and the cases that need one are skipped. */
  freshToken?: () => string;
  /** Credits spent so far; missing if the service does not tell. */
  spent?: () => Promise<number>;
  /** Also hold it to what the interface does not show and this project chose: codes, statuses, no other fields. */
  ours?: boolean;
}

/** An answer as it came. */
export interface Reply {
  status: number;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a reply is whatever the service sent
  json: any;
}

/** Asks with the target's key, unless the body brings one; a key of `undefined` sends none. */
export async function ask(target: Target, path: string, body: Record<string, unknown>): Promise<Reply> {
  return askRaw(target, path, JSON.stringify({api_key: target.apiKey, ...body}));
}

export async function askRaw(target: Target, path: string, body: string): Promise<Reply> {
  const headers = {'Content-Type': 'application/json'};
  return replyOf(await fetch(target.baseUrl + path, {method: 'POST', headers, body}));
}

export async function replyOf(response: Response): Promise<Reply> {
  const text = await response.text();
  return {status: response.status, type: response.headers.get('content-type') ?? '', json: JSON.parse(text)};
}

import {ClientRequest, type Agent as HttpAgent, type RequestOptions} from 'node:http';
import type {Agent as HttpsAgent} from 'node:https';
import type {ExtendOptions} from 'got';

/**
 * Options for the library got, so that it passes only the needed options to Node's client. By default it passes
 * all of its own: some forty, mostly undefined. Node copies them several times for each call, which is a third of
 * a call's cost. Measured on Node 20: one call takes 210 µs without these options and 110 µs with them, compared
 * with 65 µs with `node:http`.
 */
export function slimRequestOptions(url: URL, agent: HttpAgent | HttpsAgent): ExtendOptions {
  const method = 'POST';
  const {protocol, pathname: path} = url;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const port = url.port === '' ? undefined : url.port;
  return {
    request: (_, options) => new UntimedRequest(options as RequestOptions),
    handlers: [
      (options, next) => {
        const slim = () => ({agent, method, protocol, host, port, path, headers: options.headers});
        return next(Object.assign(options, {createNativeRequestOptions: slim}));
      },
    ],
  };
}

/** A request that `got` takes for timed. Otherwise `got` would add a dozen listeners for unused timings. */
class UntimedRequest extends ClientRequest {
  readonly timings = {phases: {}};
}

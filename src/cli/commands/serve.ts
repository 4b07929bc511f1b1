import {readKey} from '../../job/api-key.ts';
import {durationBetween, rateSetting, shareSetting, wholeNumber} from '../../job/setting-types.ts';
import type {ServiceOptions} from '../../service/start.ts';
import {readFlag, withoutMissingFlags} from '../job-from-flags.ts';
import {endSignals} from '../signals.ts';
import {print} from '../terminal/printable.ts';

interface ServeFlags {
  readonly port: string;
  readonly host: string;
  readonly sessions?: string;
  readonly rules?: string;
  readonly answers?: string;
  readonly maxConnections: string;
  readonly pages: boolean;
  readonly credits?: string;
  readonly latency?: string;
  readonly rateLimit?: string;
  readonly errorRate?: string;
  readonly seed?: string;
}

/** `bulk-enrich serve`: runs the embedded service until a signal ends it. */
export async function serveCommand(flags: ServeFlags): Promise<number> {
  const {readGivenAnswers, startService} = await import('../../service/start.ts');
  const apiKey = readKey(process.env);
  const limit = readFlag('rateLimit', rateSetting, flags);
  const options = {
    port: readFlag('port', wholeNumber(0), flags),
    host: flags.host,
    maxConnections: readFlag('maxConnections', wholeNumber(0), flags),
    pages: flags.pages,
    sessionsFile: flags.sessions,
    rulesFile: flags.rules,
    answers: flags.answers && readGivenAnswers(flags.answers),
    credits: readFlag('credits', wholeNumber(0), flags),
    latencyMs: readFlag('latency', durationBetween('0s', '10m'), flags),
    rateLimit: limit && (limit.count * 1_000) / limit.perMs,
    errorRate: readFlag('errorRate', shareSetting, flags),
    seed: readFlag('seed', wholeNumber(0), flags),
    apiKey,
  };
  const service = await startService(withoutMissingFlags(options) as ServiceOptions);
  // A key of the user's own is never printed.
  const [made, keyToo] =
    apiKey === undefined
      ? [
          `API key (made for this run; set BULK_ENRICH_API_KEY for one of your own): ${service.apiKey}\n`,
          ` BULK_ENRICH_API_KEY=${service.apiKey}`,
        ]
      : ['', '   # with the same BULK_ENRICH_API_KEY'];
  // Not every program can connect to "all addresses", 0.0.0.0.
  const url = service.url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
  print(
    'stdout',
    `Listening on ${service.url}\n${made}In another terminal: export BULK_ENRICH_BASE_URL=${url}${keyToo}\n`,
  );
  await new Promise(resolve => {
    for (const signal of endSignals) process.once(signal, resolve);
  });
  await service.close();
  return 0;
}

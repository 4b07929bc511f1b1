import {UsageError} from '../../errors.ts';
import {readKey} from '../../job/secrets/api-key.ts';
import {countOrShare, durationFrom, rates} from '../../job/values.ts';
import type {Service, ServiceOptions} from '../../service/start.ts';
import {readFlag} from '../job-from-flags.ts';
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
  const key = readKey(process.env);
  const service = await start(flags, key);
  print('stdout', `Listening on ${service.url}\n`);
  if (key === undefined)
    print(
      'stdout',
      `API key (made for this run; set BULK_ENRICH_API_KEY for one of your own): ${service.apiKey}\n`,
    );
  // A key of the user's own is never printed.
  const keyToo =
    key === undefined ? ` BULK_ENRICH_API_KEY=${service.apiKey}` : '   # with the same BULK_ENRICH_API_KEY';
  print('stdout', `In another terminal: export BULK_ENRICH_BASE_URL=${reachable(service.url)}${keyToo}\n`);
  await new Promise<void>(resolve => {
    for (const signal of endSignals) process.once(signal, resolve);
  });
  await service.close();
  return 0;
}

/** Replaces "all addresses" by the loopback address: not every program can connect to 0.0.0.0. */
function reachable(url: string): string {
  return url.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:');
}

/** @throws {UsageError} if a file or the port can't be used. */
async function start(flags: ServeFlags, apiKey: string | undefined): Promise<Service> {
  const {readAnswers, startService} = await import('../../service/start.ts');
  const options = serviceOptions(flags);
  const answers = flags.answers === undefined ? {} : {answers: readAnswers(flags.answers)};
  return startService({...options, ...answers, ...(apiKey === undefined ? {} : {apiKey})});
}

const latency = durationFrom('0s', '10m');

function serviceOptions(flags: ServeFlags): ServiceOptions {
  return {
    port: number('--port', flags.port),
    host: flags.host,
    maxConnections: number('--max-connections', flags.maxConnections),
    pages: flags.pages,
    ...(flags.sessions === undefined ? {} : {sessionsFile: flags.sessions}),
    ...(flags.rules === undefined ? {} : {rulesFile: flags.rules}),
    ...(flags.credits === undefined ? {} : {credits: number('--credits', flags.credits)}),
    ...(flags.latency === undefined ? {} : {latencyMs: readFlag('--latency', latency, flags.latency)}),
    ...(flags.rateLimit === undefined ? {} : {rateLimit: rateOf(flags.rateLimit)}),
    ...(flags.errorRate === undefined ? {} : {errorRate: shareOf(flags.errorRate)}),
    ...(flags.seed === undefined ? {} : {seed: number('--seed', flags.seed)}),
  };
}

function rateOf(text: string): number {
  const {all} = readFlag('--rate-limit', rates, text);
  if (all === undefined || all === 'unlimited')
    throw new UsageError('settings', '--rate-limit: expected a rate such as 20/s.');
  return (all.count * 1_000) / all.perMs;
}

function shareOf(text: string): number {
  const parsed = readFlag('--error-rate', countOrShare, text);
  const share = 'share' in parsed ? parsed.share : parsed.count;
  if (share > 1) throw new UsageError('settings', '--error-rate: expected a share such as 5% or 0.05.');
  return share;
}

function number(flag: string, text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value) || value < 0)
    throw new UsageError('settings', `${flag}: expected a whole number, 0 or more.`);
  return value;
}

import type {Answered} from '../../client/attempt.ts';
import type {Client} from '../../client/client.ts';
import {UsageError} from '../../errors.ts';
import {misspelt} from '../../job/closest.ts';
import {resolveEndpoint} from '../../job/endpoint.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {
  anyOf,
  formsOf,
  intelligenceNames,
  isIntelligence,
  isOperation,
  type Operation,
} from '../../operations/table.ts';
import {callWithinAccount} from '../../run/open/budgets.ts';
import {connectTo} from '../../run/open/connection.ts';
import {createConsole, isInteractive} from '../console.ts';
import {cleaned} from '../job-from-flags.ts';
import {printJson} from '../terminal/printable.ts';

/** `bulk-enrich lookup OPERATION VALUE`: prints the answer as JSON on stdout. */
export async function lookupCommand(
  operation: string,
  value: string,
  {json: _, ...flags}: RawSettings,
): Promise<number> {
  const settings = checkSettings(undefined, cleaned(flags));
  if (!isIntelligence(operation)) {
    throw new UsageError(
      'unknown_operation',
      `lookup: expected ${anyOf(intelligenceNames)}, not "${operation}"${isOperation(operation) ? ` (bulk-enrich ${operation} has its own command)` : ''}.`,
      misspelt(operation, intelligenceNames),
    );
  }
  const params = {[operation]: canonicalParam(operation, operation, value, settings, 'This value')};
  return ask(settings, operation, client => client.answer(operation, params));
}

/**
 * A value of a request in its canonical form, which runs send too.
 *
 * @throws {UsageError} for a text that is not a valid value.
 */
export function canonicalParam(
  operation: Operation,
  param: string,
  text: string,
  {defaultCountry}: ReturnType<typeof checkSettings>,
  what: string,
): string {
  const read = formsOf(operation)[param]?.(text, defaultCountry);
  if (read?.state === 'broken') throw read.thrown;
  if (read?.state === 'value') return read.value;
  const code = read?.state === 'invalid' ? read.code : 'empty';
  throw new UsageError(
    'not_a_value',
    `${what} can't be looked up (${code}); nothing was sent.${code === 'country_unknown' ? ' Write it as +…, or give --default-country.' : ''}`,
  );
}

export type SingleAsk = (client: Client, actionId: string | undefined) => Promise<Answered>;

/** Makes one call within the account's limits, and prints the answer. Throws the error of a failed call. */
export async function ask(
  settings: ReturnType<typeof checkSettings>,
  operation: Operation,
  call: SingleAsk,
  action?: string,
): Promise<number> {
  const console = createConsole(settings);
  const endpoint = resolveEndpoint(settings.endpoint, action, process.env, isInteractive(), console);
  if (endpoint.kind === 'embedded' && endpoint.byDefault)
    console.say('No service is configured, so the embedded service answers from open data.');
  const connection = await connectTo(endpoint, {timeoutMs: settings.timeout});
  try {
    const io = {env: process.env, now: Date.now, warn: console.warn};
    const make = () => call(connection.client, endpoint.actionId);
    const {data, exact, wrongTypes} = await callWithinAccount({endpoint, settings, operation}, io, make);
    printJson(exact === undefined ? data : JSON.parse(exact));
    if (wrongTypes.length > 0)
      console.warn(`Fields of the wrong type, as they came: ${wrongTypes.join(', ')}.`);
    return 0;
  } finally {
    await connection.close();
  }
}

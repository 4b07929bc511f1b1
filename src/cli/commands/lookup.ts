import type {Answered} from '../../client/attempt.ts';
import type {OpenedClient} from '../../client/client.ts';
import {UsageError} from '../../errors.ts';
import {resolveEndpoint} from '../../job/endpoint.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {
  fieldCanonicalizers,
  intelligenceNames,
  isIntelligence,
  isOperation,
  joinWithOr,
  type Operation,
} from '../../operations/table.ts';
import {callWithinAccount, type SingleCallRequest} from '../../run/open/account.ts';
import {openConnection} from '../../run/open/connection.ts';
import {didYouMean} from '../../sentence.ts';
import {type Console, createConsole, isInteractive} from '../console.ts';
import {withoutMissingFlags} from '../job-from-flags.ts';
import {printJson} from '../terminal/printable.ts';

type Checked = ReturnType<typeof checkSettings>;

/** `bulk-enrich lookup OPERATION VALUE`: prints the answer as JSON on stdout. */
export async function lookupCommand(
  operation: string,
  value: string,
  {json: _, ...flags}: RawSettings,
): Promise<number> {
  const settings = checkSettings(undefined, withoutMissingFlags(flags));
  if (!isIntelligence(operation)) {
    const advice = isOperation(operation) ? ` (bulk-enrich ${operation} has its own command)` : '';
    throw new UsageError(
      'unknown_operation',
      `lookup: expected ${joinWithOr(intelligenceNames)}, not "${operation}"${advice}.${didYouMean(operation, intelligenceNames)}`,
    );
  }
  const params = {[operation]: canonicalParam(operation, operation, value, settings, 'This value')};
  return printAnswer(settings, operation, client => client.answer(operation, params));
}

interface VerifyFlags extends RawSettings {
  readonly token: string;
  readonly action?: string;
  readonly id?: string;
  readonly email?: string;
  readonly phone?: string;
}

/** `bulk-enrich verify`: prints the verdict as JSON on stdout. */
export async function verifyCommand(given: VerifyFlags): Promise<number> {
  const {token, action, id, email, phone, ...flags} = given;
  const settings = checkSettings(undefined, withoutMissingFlags(flags));
  const sent = [
    ['token', token],
    ['id', id],
    ['email', email],
    ['phone', phone],
  ] as const;
  const params = sent.flatMap(([flag, text]) => {
    if (text === undefined) return [];
    const name = flag === 'phone' ? 'phone_number' : flag;
    return [[name, canonicalParam('verify', name, text, settings, `--${flag}`)]];
  });
  const call = (client: OpenedClient, actionId: string | undefined) => {
    if (actionId === undefined)
      throw new UsageError(
        'no_action',
        'A verdict needs an action identifier: --action ID, or BULK_ENRICH_ACTION_ID.',
      );
    return client.answer('verify', {action_id: actionId, ...Object.fromEntries(params)});
  };
  return printAnswer(settings, 'verify', call, action);
}

/** A request's value in the form that runs send, too. Throws UsageError for a text that is not a valid value. */
function canonicalParam(
  operation: Operation,
  param: string,
  text: string,
  {defaultCountry}: Checked,
  what: string,
): string {
  const read = fieldCanonicalizers(operation)[param]?.(text, defaultCountry);
  if (read?.state === 'broken') throw read.thrown;
  if (read?.state === 'value') return read.value;
  const code = read?.state === 'invalid' ? read.code : 'empty';
  const advice = code === 'country_unknown' ? ' Write it as +…, or give --default-country.' : '';
  throw new UsageError('not_a_value', `${what} can't be looked up (${code}); nothing was sent.${advice}`);
}

/** Makes one call within the account's limits, and prints the answer. Throws the error of a failed call. */
async function printAnswer(
  settings: Checked,
  operation: Operation,
  call: (client: OpenedClient, actionId: string | undefined) => Promise<Answered>,
  action?: string,
): Promise<number> {
  const console = createConsole(settings);
  const endpoint = resolveEndpoint(settings.endpoint, action, process.env, isInteractive(), console);
  if (endpoint.kind === 'embedded' && endpoint.byDefault)
    console.say('No service is configured, so the embedded service answers from open data.');
  const {data, exact, wrongTypes} = await callOnce({endpoint, settings, operation}, console, client =>
    call(client, endpoint.actionId),
  );
  printJson(exact === undefined ? data : JSON.parse(exact));
  if (wrongTypes.length > 0)
    console.warn(`Fields of the wrong type, as they came: ${wrongTypes.join(', ')}.`);
  return 0;
}

/** Makes one call within the account's limits. @throws the error of a failed call. */
export async function callOnce<T>(
  request: SingleCallRequest,
  {warn}: Console,
  call: (client: OpenedClient) => Promise<T>,
): Promise<T> {
  const connection = await openConnection(request.endpoint, {timeoutMs: request.settings.timeout});
  try {
    const io = {env: process.env, now: Date.now, warn};
    return await callWithinAccount(request, io, () => call(connection.client));
  } finally {
    await connection.close();
  }
}

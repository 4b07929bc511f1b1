import {UsageError} from '../../errors.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {cleaned} from '../job-from-flags.ts';
import {ask, canonicalParam, type SingleAsk} from './lookup.ts';

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
  const settings = checkSettings(undefined, cleaned(flags));
  const sent = {token, id, email, phone_number: phone};
  const params = Object.fromEntries(
    Object.entries(sent).flatMap(([name, text]) => {
      if (text === undefined) return [];
      const flag = `--${name.replace('_number', '')}`;
      return [[name, canonicalParam('verify', name, text, settings, flag)]];
    }),
  );
  const call: SingleAsk = (client, actionId) => {
    if (actionId === undefined)
      throw new UsageError(
        'no_action',
        'A verdict needs an action identifier: --action ID, or BULK_ENRICH_ACTION_ID.',
      );
    return client.answer('verify', {action_id: actionId, ...params});
  };
  return ask(settings, 'verify', call, action);
}

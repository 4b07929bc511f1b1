import {verifyParams} from '../../client/client.ts';
import {UsageError} from '../../errors.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {cleaned} from '../job-from-flags.ts';
import {ask, type SingleAsk} from './lookup.ts';

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
  const call: SingleAsk = (client, actionId) => {
    if (actionId === undefined)
      throw new UsageError(
        'no_action',
        'A verdict needs an action identifier: --action ID, or BULK_ENRICH_ACTION_ID.',
      );
    return client.answer('verify', verifyParams({token, actionId, id, email, phoneNumber: phone}));
  };
  return ask(settings, 'verify', call, action);
}

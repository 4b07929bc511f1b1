import {verifyParams} from '../../client/client.ts';
import {UsageError} from '../../errors.ts';
import {checkSettings, type RawSettings} from '../../job/parse.ts';
import {operations} from '../../operations/table.ts';
import {cleaned} from '../job-from-flags.ts';
import {ask} from './lookup.ts';

interface VerifyFlags extends RawSettings {
  readonly token: string;
  readonly id?: string;
  readonly email?: string;
  readonly phone?: string;
}

/** `bulk-enrich verify`: the verdict as JSON on stdout. */
export async function verifyCommand({token, id, email, phone, ...flags}: VerifyFlags): Promise<number> {
  const settings = checkSettings(undefined, cleaned(flags));
  return ask(settings, operations.verify.cost, (client, actionId) => {
    if (actionId === undefined)
      throw new UsageError(
        'no_action',
        'A verdict needs an action identifier: --action-id ID, or BULK_ENRICH_ACTION_ID.',
      );
    return client.answer('verify', verifyParams({token, actionId, id, email, phoneNumber: phone}));
  });
}

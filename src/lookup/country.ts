import {isSupportedCountry} from 'libphonenumber-js/min';
import {UsageError} from '../errors.ts';

/**
 * Checks the code of a country that phone numbers in national form belong to.
 *
 * @throws {UsageError} that begins with `place`.
 */
export function demandCountry(code: string | undefined, place: string): void {
  if (code === undefined || isSupportedCountry(code)) return;
  const hint = code === 'UK' ? ' Did you mean "GB"?' : ' Use a two-letter code such as US or DE.';
  throw new UsageError('unknown_country', `${place}: there is no country "${code}".${hint}`);
}

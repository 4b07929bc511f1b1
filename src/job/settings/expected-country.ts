import {englishNames} from '../../operations/country.ts';
import {closestName} from '../did-you-mean.ts';

/** End of a message about a text that is not a country: the accepted forms, and the nearest name. */
export function expectedCountry(given: string): string {
  const near = closestName(given, englishNames());
  return `name or code such as DE${near === undefined ? '' : ` (is "${near}" meant?)`}`;
}

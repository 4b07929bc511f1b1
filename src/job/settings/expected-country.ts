import {englishNames} from '../../operations/country.ts';
import {closest} from '../closest.ts';

/** Message for a text that names no country: the accepted forms, and the nearest name. */
export function expectedCountry(given: string): string {
  const near = closest(given, englishNames());
  return `name or code such as DE${near === undefined ? '' : ` (is "${near}" meant?)`}`;
}

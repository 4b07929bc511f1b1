import type {PhoneNumber} from 'libphonenumber-js/max';

/**
 * Numbers for examples and films, which no person has (Ofcom's drama numbers, ARCEP decision 2018-0881, ComReg's
 * numbers for drama, NANPA's 555-01xx).
 */
const FICTIONAL =
  /^\+(?:44(?:7700900|1632960)\d{3}|33(?:19900|26191|35301|46571|53649|63998)\d{4}|3532091\d{5}|1[2-9]\d{2}55501\d\d)$/;

/** True if the number is valid in its country, or reserved for examples: new users try example numbers first. */
export function isInPlan(number: PhoneNumber): boolean {
  return FICTIONAL.test(number.number) || number.isValid();
}

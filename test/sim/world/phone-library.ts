import {parsePhoneNumberFromString as parse} from 'libphonenumber-js/max';

export * from 'libphonenumber-js/max';

const parsed = new Map<string, ReturnType<typeof parse>>();

/** The library's own, which each run's columns are judged with: sequences have the same few cells. */
export function parsePhoneNumberFromString(...given: Parameters<typeof parse>): ReturnType<typeof parse> {
  const key = JSON.stringify(given);
  if (!parsed.has(key)) parsed.set(key, parse(...given));
  return parsed.get(key);
}

import * as library from 'libphonenumber-js/max';

const parse = library.parsePhoneNumberFromString;

const parsed = new Map<string, ReturnType<typeof parse>>();

/** The library's own, which each run's columns are judged with: sequences have the same few cells. */
function parsePhoneNumberFromString(...given: Parameters<typeof parse>): ReturnType<typeof parse> {
  const key = JSON.stringify(given);
  if (!parsed.has(key)) parsed.set(key, parse(...given));
  return parsed.get(key);
}

const simulated = {...library, parsePhoneNumberFromString};
export const phoneLibrary = () => simulated;

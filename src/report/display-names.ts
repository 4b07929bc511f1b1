import {isOperation, operationNames, operations} from '../operations/table.ts';

/** An operation's name for people. */
export function operationName(name: string): string {
  return isOperation(name) ? operations[name].title : name;
}

/** What a code says, `ip.ip_range` or `signup_ip.ip_range`; empty for a word of the service's own. */
export function meaningOf(code: string): string {
  const word = code.slice(code.lastIndexOf('.') + 1);
  const judging = operationNames.find(name => Object.hasOwn(operations[name].codes, word));
  return judging === undefined ? '' : ((operations[judging].codes as Record<string, string>)[word] ?? '');
}

/** `US` → `United States (US)`; what is no such code stays as it is. */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  const name = new Intl.DisplayNames('en', {type: 'region', fallback: 'none'}).of(code);
  return name === undefined ? code : `${name} (${code})`;
}

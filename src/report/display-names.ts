import {isOperation, operations} from '../operations/table.ts';

/** An operation's name for people. */
export function operationName(name: string): string {
  return isOperation(name) ? operations[name].title : name;
}

/** `US` → `United States (US)`. Other texts stay as they are. */
export function countryName(code: string): string {
  if (!/^[A-Z]{2}$/.test(code)) return code;
  const name = new Intl.DisplayNames('en', {type: 'region', fallback: 'none'}).of(code);
  return name === undefined ? code : `${name} (${code})`;
}

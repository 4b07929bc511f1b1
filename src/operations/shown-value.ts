import {type Intelligence, operations} from './table.ts';

/** True if the text is a valid value of the operation, and shows so even without a header. */
export function isValueOf(operation: Intelligence, text: string): boolean {
  const {canonical, isTelling} = operations[operation];
  return isTelling?.(text) !== false && canonical(text).state === 'value';
}

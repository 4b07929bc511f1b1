import {type Intelligence, intelligenceNames, operations} from './table.ts';

/** True if the text is a valid value of the operation, and shows so even without a header. */
export function isValueOf(operation: Intelligence, text: string): boolean {
  const {canonical, isTelling} = operations[operation];
  return isTelling?.(text) !== false && canonical(text).state === 'value';
}

/** True if the text is such a value of any operation. */
export const isValue = (text: string): boolean => intelligenceNames.some(name => isValueOf(name, text));

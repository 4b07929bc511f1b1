import codes from '../codes.json' with {type: 'json'};
import {type CodeText, INVALID_TOKEN_CODE} from '../operations/operation.ts';
import {operationNames, operations} from '../operations/table.ts';

/** The texts of all codes that outputs have. */
const texts: Readonly<Record<string, CodeText>> = {
  ...Object.assign({}, ...operationNames.map(name => operations[name].codes)),
  ...codes.repairs,
  ...codes.rows,
  ...codes.skipped,
  ...codes.calls,
};

/** A code with an HTTP status, such as `http_503`. A run may send `failed` calls again, but never `refused` ones. */
const STATUS = /^http_(?<failed>408|425|429|5\d\d)?\d*$/;

function textOf(word: string): CodeText | undefined {
  if (Object.hasOwn(texts, word)) return texts[word];
  const status = STATUS.exec(word)?.groups;
  return status && codes.statuses[status['failed'] === undefined ? 'refused' : 'failed'];
}

/** The part of a code after its prefix: `ip_range` of `ip.ip_range` or `signup_ip.ip_range`. */
const wordOf = (code: string) => code.slice(code.lastIndexOf('.') + 1);

/** True for a code of the service, apart from the one that its interface names: this program's table is not about it. */
const isUnknown = (word: string, isService: boolean) => isService && word !== INVALID_TOKEN_CODE;

/**
 * Meaning of a code, with or without a column or operation before it (`ip.ip_range`). Empty for codes of the
 * service (`isService`) that its interface does not name.
 */
export function codeMeaning(code: string, isService = false): string {
  const word = wordOf(code);
  return isUnknown(word, isService) ? '' : (textOf(word)?.meaning ?? '');
}

/** Advice on a code, given these settings; undefined if fixing the list is enough. */
export function codeAdvice(
  code: string,
  settings: Readonly<Record<string, unknown>> = {},
  isService = false,
): string | undefined {
  const word = wordOf(code);
  const {advice, ifSet = {}} = (isUnknown(word, isService) ? undefined : textOf(word)) ?? {};
  const isSet = (name: string) => ![undefined, false, 'auto'].includes(settings[name] as string | undefined);
  const set = Object.keys(ifSet).find(isSet);
  return set === undefined ? advice : ifSet[set];
}

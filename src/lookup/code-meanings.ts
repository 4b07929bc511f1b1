import type {RejectReason} from '../input/row.ts';
import type {SkipCode} from '../ledger/lookup-outcome.ts';
import {repairCodes} from '../operations/cell.ts';
import {INVALID_TOKEN_CODE} from '../operations/operation.ts';
import {operationNames, operations} from '../operations/table.ts';

/** A code's meaning. `advice` says what to do; without it, fixing the list is enough. */
export interface CodeText {
  readonly meaning: string;
  readonly advice?: string;
}

/** Codes of rows that can't be read. */
export const rejectCodes: Readonly<Record<RejectReason, CodeText>> = {
  cut_off: {meaning: 'The list ends in the middle of it.', advice: 'get the list whole, and run it again'},
  column_count: {
    meaning: 'It has more or fewer fields than the header.',
    advice: 'if rows only lack fields at their end, add --pad-short-rows',
  },
  header_again: {
    meaning: 'It repeats the header: two lists were joined in one file.',
    advice: 'remove the line, or give each list as a file of its own',
  },
  invalid_quote: {
    meaning: 'It has a quote inside an unquoted field, and the wrong number of fields.',
    advice: 'quote the whole field and double the quotes in it',
  },
  unclosed_quote: {meaning: 'It has an opening quote but no closing one.', advice: 'close it, or double it'},
  too_large: {meaning: 'It is larger than 1 MiB.', advice: 'leave its long fields out, or cut them'},
  invalid_encoding: {
    meaning: 'It is not text in the encoding of the list.',
    advice: 'name its encoding (--encoding), or save the list as UTF-8',
  },
  invalid_json: {
    meaning: 'The line is not valid JSON.',
    advice: 'write one object a line; only a .json list may use several lines',
  },
  not_an_object: {meaning: 'The line is JSON, but not an object.', advice: 'write {"name": value}'},
};

/** Codes of values that were not looked up, on purpose or at a limit. */
export const skipCodes: Readonly<Record<SkipCode, CodeText>> = {
  condition: {meaning: "The lookup's `when` was not true for the row."},
  filter: {meaning: '--where left the row out.'},
  footer: {meaning: 'The row seems to be a total or a note below the list.'},
  budget: {
    meaning: 'The credit limit was reached.',
    advice: 'raise the limit, or let the next run pay for them',
  },
  deadline: {meaning: 'The deadline was reached.', advice: 'run again: known answers cost nothing'},
  outage: {
    meaning: 'The service was down for longer than --max-outage, or --resends allows no more.',
    advice: 'run again later',
  },
  offline: {meaning: '--offline makes no calls, and the store has no answer.'},
};

/**
 * Codes of calls without a usable answer: those of this program, and the service's `invalid_token`. All other
 * codes come from the service.
 */
export const callCodes = {
  bad_response: {
    meaning: 'The answer breaks the interface; the call counts as spent.',
    advice: 'check BULK_ENRICH_BASE_URL; if it is right, tell the service',
  },
  timeout: {meaning: 'No answer within --timeout.', advice: 'raise --timeout, or look up again with --force'},
  connection_closed: {
    meaning: 'The service closed the connection without an answer.',
    advice: 'look up again with --force',
  },
  econnreset: {
    meaning: 'The connection broke after the call was sent.',
    advice: 'look up again with --force',
  },
  interrupted: {
    meaning: 'The run was killed with the call in flight, and --resends allows no other.',
    advice: 'look up again with --force',
  },
  econnrefused: {
    meaning: 'The service refuses connections; nothing was sent.',
    advice: 'run bulk-enrich doctor',
  },
  enotfound: {
    meaning: 'The host name of the service is unknown; nothing was sent.',
    advice: 'run bulk-enrich doctor',
  },
  network_error: {
    meaning: 'The network failed without a code.',
    advice: 'look up again with --force',
  },
  worker_lost: {
    meaning: "The fleet's worker was lost with the call in flight.",
    advice: 'look up again with --force',
  },
  internal_error: {
    meaning: 'This program failed at the cell, and said so once.',
    advice: 'report that sentence; once it is fixed, run again with --force',
  },
  verdict_replay_uncertain: {
    meaning: 'A lost call may have redeemed the token, so redeemed: true may not mean a replay.',
  },
  invalid_token: {
    meaning: 'We assume a bad session token; if the first ten fail like this, a bad API key.',
  },
  service_error: {
    meaning: 'The service gave no code, or one with the value in it, which is not shown.',
  },
  other_codes: {
    meaning: 'In the summary: all codes after the first fifty of an operation.',
    advice: 'see the column of errors in the output',
  },
} as const satisfies Readonly<Record<string, CodeText>>;

/**
 * Texts for codes with an HTTP status, such as `http_503`. A run may send `failed` calls again, but
 * never `refused` ones.
 */
const statusCodes = {
  failed: {
    meaning: 'The service failed with this HTTP status; the call may have been charged.',
    advice: 'look up again with --force',
  },
  refused: {meaning: 'The service refused the call with this HTTP status, and gave no code.'},
} as const satisfies Readonly<Record<string, CodeText>>;
const STATUS = /^http_(?<failed>408|425|429|5\d\d)?\d*$/;

/** Codes of cells with several values. */
const LISTS = ['ip_list', 'phone_list', 'email_list'] as const;
const CHOSEN = 'fix the cell: the entry that you chose is missing or not valid, or not the only one';

/** Advice by code, for values that can't be looked up; without codes whose meaning includes the advice. */
export const valueAdvice: Readonly<Record<string, string>> = {
  calling_code_unclear:
    'write the plus, or the zero before the area code; if all of them only lack their plus, add --default-country +',
  country_unknown: 'add --country COLUMN or --default-country COUNTRY',
  leading_zero_lost: 'set the column to text in the spreadsheet, then export it again',
  ip_number: 'write it with dots, as INET_NTOA() of MySQL does',
  ip_private: "use the column with the client's own address",
  scientific_notation: 'set the column to text in the spreadsheet, then export it again',
  decimal_number: 'set the column to text in the program that wrote it, then export it again',
  ...Object.fromEntries(LISTS.map(code => [code, 'add --from-list first, last or only'])),
  unreadable_characters: 'name the encoding of the list (--encoding), or export it again as UTF-8',
};

/**
 * Advice by code and setting. It replaces the usual advice if the user uses that setting already. If several of the
 * settings are in use, the first counts.
 */
const adviceWhenSet: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  calling_code_unclear: {defaultCountry: 'write the plus, or the zero before the area code'},
  country_unknown: {
    defaultCountry: 'fix the country column: it has no known country in this row',
    country: 'fix the country column; where it is empty, add --default-country COUNTRY',
  },
  ...Object.fromEntries(
    LISTS.map(code => [code, {fromList: CHOSEN, ...(code === 'ip_list' && {ipFromList: CHOSEN})}]),
  ),
  column_count: {padShortRows: 'fix the row: it has more fields than the header'},
  invalid_encoding: {encoding: 'its encoding is not the one of --encoding: export it again as UTF-8'},
  unreadable_characters: {encoding: 'export the list again as UTF-8'},
};

const named: Readonly<Record<string, CodeText>> = {...rejectCodes, ...skipCodes, ...callCodes};

function textOf(word: string): CodeText | undefined {
  if (Object.hasOwn(named, word)) return named[word];
  const status = STATUS.exec(word)?.groups;
  return status && (status['failed'] === undefined ? statusCodes.refused : statusCodes.failed);
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
  if (isUnknown(word, isService)) return '';
  const judging = operationNames.find(name => Object.hasOwn(operations[name].codes, word));
  if (judging !== undefined) return (operations[judging].codes as Record<string, string>)[word] ?? '';
  if (Object.hasOwn(repairCodes, word)) return repairCodes[word as keyof typeof repairCodes];
  return textOf(word)?.meaning ?? '';
}

/** Advice on a code, given these settings; undefined if fixing the list is enough. */
export function codeAdvice(
  code: string,
  settings: Readonly<Record<string, unknown>> = {},
  isService = false,
): string | undefined {
  const word = wordOf(code);
  if (isUnknown(word, isService)) return undefined;
  const isSet = (name: string) => ![undefined, false, 'auto'].includes(settings[name] as string | undefined);
  const others = Object.hasOwn(adviceWhenSet, word) ? (adviceWhenSet[word] ?? {}) : {};
  const set = Object.keys(others).find(isSet);
  if (set !== undefined) return others[set];
  if (Object.hasOwn(valueAdvice, word)) return valueAdvice[word];
  return textOf(word)?.advice;
}

import {BulkEnrichError} from '../errors.ts';
import {spelled} from '../job/setting-names.ts';
import {describeSettings} from '../job/settings.ts';
import {intelligenceNames} from '../operations/table.ts';

/** Messages name flags of the command line. Programs get the names of settings instead. */

const FLAG = /(?<![\w-])--(no-)?([a-z][a-z-]*)( (?:"[^"]*"|fresh\b|[A-Z]\w*(?:=\w+)?))?/g;

const settings = describeSettings();
const columnFlags = [...intelligenceNames, 'country'].join('|');
/** A flag that names a column, and the column as a word for a shell: `--ip 'last ip'`. */
const COLUMN = String.raw`--(${columnFlags}) ('(?:[^']|'\\'')*'|[^\s'"]*[^\s'".,;])`;
const EACH_COLUMN = new RegExp(COLUMN, 'g');
const COLUMNS = new RegExp(`(?<=\\b(?:add|it:|columns:) )${COLUMN}(?: ${COLUMN})*`, 'g');
const byFlag = new Map(settings.map(setting => [spelled(setting.name, '-'), setting]));
const bySnakeCase = new Map(settings.map(({name}) => [spelled(name, '_'), name]));

/** A message with settings in place of flags: `maxCredits` for `--max-credits`, and `force: true` for `--force`. */
export function spoken(message: string): string {
  return message
    .replace(COLUMNS, columnsInCode)
    .replace(FLAG, (written, negated: string | undefined, flag: string, value = '') => {
      const setting = byFlag.get(flag);
      if (setting === undefined) return written;
      if (negated !== undefined) return `${setting.name}: false`;
      const isSwitch = setting.value === undefined || setting.value.startsWith('[');
      if (isSwitch && !value.endsWith(' fresh')) return `${setting.name}: true${value}`;
      return value === '' ? setting.name : `${setting.name}:${value}`;
    })
    .replace(/(?<![\w-])-o( OUT)?\b/g, 'output')
    .replace(
      /(?<=.)\b[a-z]+(?:_[a-z]+)+\b|^[a-z]+(?:_[a-z]+)+\b(?!:)/g,
      word => bySnakeCase.get(word) ?? word,
    );
}

/** `ip: "last ip", country: "country"`, from the flags that name these columns. */
function columnsInCode(flags: string): string {
  const named = [...flags.matchAll(EACH_COLUMN)].map(([, setting, word = '']) => {
    const column = word.startsWith("'") ? word.slice(1, -1).replaceAll("'\\''", "'") : word;
    return `${setting}: ${JSON.stringify(column)}`;
  });
  return named.join(', ');
}

/** Makes the message of a {@link BulkEnrichError} name settings instead of flags. Returns the error. */
export function ofSettings(error: unknown): unknown {
  if (!(error instanceof BulkEnrichError)) return error;
  const before = error.message;
  error.message = spoken(before);
  if (error.stack !== undefined) error.stack = error.stack.replace(before, error.message);
  return error;
}

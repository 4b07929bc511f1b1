import {z} from 'zod';
import {textList, withConversion} from '../setting-types.ts';

const formats = ['json', 'text'] as const;
export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

export interface LogSetting {
  readonly format?: (typeof formats)[number] | undefined;
  readonly level?: LogLevel | undefined;
}

/** `json`, `debug` or `json,debug`: a format, a level, or both. */
export const logSetting = withConversion(
  textList(',').pipe(z.array(z.enum([...formats, ...logLevels]))),
  'expected one format and one level at most, such as json,debug',
  (words): LogSetting | undefined => {
    const format = formats.find(name => words.includes(name));
    const level = logLevels.find(name => words.includes(name));
    return words.length === [format, level].filter(Boolean).length ? {format, level} : undefined;
  },
);

/** True if this `log` setting, which may be unchecked, asks for JSON. */
export function isForMachine(given: unknown): boolean {
  return logSetting.safeParse(given).data?.format === 'json';
}

import {z} from 'zod';
import {list} from '../values.ts';

const formats = ['json', 'text'] as const;
const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

export interface LogSetting {
  readonly format?: (typeof formats)[number] | undefined;
  readonly level?: (typeof levels)[number] | undefined;
}

/** `json`, `debug` or `json,debug`: a format, a level, or both. */
export const log = list(',')
  .pipe(z.array(z.enum([...formats, ...levels])))
  .transform((words, context): LogSetting => {
    const format = formats.find(name => words.includes(name));
    const level = levels.find(name => words.includes(name));
    if (words.length === [format, level].filter(Boolean).length) return {format, level};
    context.addIssue('expected one format and one level at most, such as json,debug');
    return z.NEVER;
  });

/** True if this `log` setting, which may be unchecked, asks for JSON. */
export function isForMachine(given: unknown): boolean {
  return log.safeParse(given).data?.format === 'json';
}

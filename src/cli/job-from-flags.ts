import type {z} from 'zod';
import {UsageError} from '../errors.ts';
import {keyVariables} from '../job/api-key.ts';
import type {Env} from '../job/endpoint.ts';
import {type Job, resolveJob} from '../job/job.ts';
import {
  checkSettings,
  createSettingLocator,
  type RawSettings,
  readJobFile,
  salvageJobFile,
} from '../job/parse.ts';
import {spellName} from '../sentence.ts';
import {type Console, createConsole, isInteractive} from './console.ts';

/** A command's flags as Commander passes them: settings of a job, --output and --job. */
export type JobFlags = RawSettings & {readonly output?: string; readonly job?: string};

/** A job, and the console for its messages. */
export interface JobAtConsole {
  readonly job: Job;
  readonly console: Console;
}

/** Makes a job from a job file and flags. A command that makes no calls needs neither a key nor an output. */
export function makeJobFromFlags(
  inputs: readonly string[],
  flags: JobFlags,
  {makesCalls = true} = {},
): JobAtConsole {
  const {output, job: path, ...given} = flags;
  const file = path === undefined ? undefined : readJobFile(path);
  const raw = withoutMissingFlags(given);
  const settings = checkSettings(file, inputs.length === 0 ? raw : {...raw, input: [...inputs]});
  const {name, input, output: jobOutput, ...rest} = settings;
  const console = createConsole(rest);
  const job = resolveJob(
    {
      name,
      inputs: input,
      output: output ?? jobOutput ?? (makesCalls ? undefined : '-'),
      settings: rest,
      fromFile: file !== undefined,
      isForced: given['force'] === true,
      jobFile: path,
      placeOf: createSettingLocator(file, raw),
    },
    makesCalls ? process.env : envWithoutApiKey(process.env),
    isInteractive(),
    console.warn,
  );
  return {job, console};
}

/** An environment with a placeholder for the API key, so that no key is read. */
function envWithoutApiKey(env: Env): Env {
  const none = Object.fromEntries(keyVariables.map(name => [name, undefined]));
  return {...env, ...none, [keyVariables[0]]: 'not needed'};
}

/** Unchecked settings, to report a run that could not begin. `isPart`: a job file with a mistake may lack some. */
export function readUncheckedSettings({job: path, ...flags}: JobFlags): {said: RawSettings; isPart: boolean} {
  const given = withoutMissingFlags(flags);
  if (path === undefined) return {said: given, isPart: false};
  try {
    return {said: {...readJobFile(path).settings, ...given}, isPart: false};
  } catch {
    return {said: {...salvageJobFile(path), ...given}, isPart: true};
  }
}

/** Only the flags that the user gave: Commander sets others to undefined. */
export function withoutMissingFlags(flags: RawSettings): RawSettings {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/** Reads a flag that is not a setting of a job; undefined if it was not given. Throws UsageError naming the flag. */
export function readFlag<Name extends string, T>(
  name: Name,
  schema: z.ZodType<T>,
  flags: {readonly [Flag in Name]?: string},
): T | undefined {
  const text = flags[name];
  const read = schema.optional().safeParse(text);
  if (read.success) return read.data;
  throw new UsageError(
    'settings',
    `--${spellName(name, '-')}: ${read.error.issues[0]?.message ?? 'not valid'}.`,
  );
}

import type {z} from 'zod';
import {UsageError} from '../errors.ts';
import type {Env} from '../job/endpoint.ts';
import type {Job} from '../job/job.ts';
import {resolveJob} from '../job/job.ts';
import {checkSettings, placeIn, type RawSettings, readJobFile, salvageJobFile} from '../job/parse.ts';
import {keyVariables} from '../job/secrets/api-key.ts';
import {type Console, createConsole, isInteractive} from './console.ts';

/** The flags of a command that takes a job, as commander hands them over. */
export type JobFlags = RawSettings & {readonly output?: string; readonly job?: string};

/** Job file and flags → a checked job, and the console that it asks for. `fallback`: its output where none is named. */
export function jobFrom(
  inputs: readonly string[],
  flags: JobFlags,
  fallback?: string,
  env: Env = process.env,
): {readonly job: Job; readonly console: Console} {
  const {output, job: path, ...given} = flags as Record<string, unknown> & JobFlags;
  const file = path === undefined ? undefined : readJobFile(path);
  const raw = cleaned(given);
  const settings = checkSettings(file, inputs.length === 0 ? raw : {...raw, input: [...inputs]});
  const {name, input, output: jobOutput, ...rest} = settings;
  const job = resolveJob(
    {
      name,
      inputs: input,
      output: output ?? jobOutput ?? fallback,
      settings: rest,
      fromFile: file !== undefined,
      jobFile: path,
      ...(raw.restart === undefined ? {} : {restartsNow: true}),
      placeOf: placeIn(file, raw),
    },
    env,
    isInteractive(),
    // What a command says of the key that it gives is not kept from whoever wants little to be said.
    createConsole({...rest, quiet: false}).warn,
  );
  return {job, console: createConsole(rest)};
}

/** The environment of a command that counts and asks nobody: no key is read, nor a program run for it. */
export function envOfCounting(env: Env): Env {
  const none = Object.fromEntries(keyVariables.map(name => [name, undefined]));
  return {...env, ...none, [keyVariables[0]]: 'not needed'};
}

/**
 * What the job file and the flags say, unchecked, of a job that could not be made out. `isPart`: the file has a mistake,
 * and may say more.
 */
export function unchecked({job: path, ...flags}: JobFlags): {said: RawSettings; isPart: boolean} {
  const given = cleaned(flags);
  if (path === undefined) return {said: given, isPart: false};
  try {
    return {said: {...readJobFile(path).settings, ...given}, isPart: false};
  } catch {
    return {said: {...salvageJobFile(path), ...given}, isPart: true};
  }
}

/** The flags that were given. */
export function cleaned(flags: RawSettings): RawSettings {
  return Object.fromEntries(Object.entries(flags).filter(([, value]) => value !== undefined));
}

/**
 * What a flag says that is a command's own, and no setting of a job.
 *
 * @throws {UsageError} naming the flag, and what was expected.
 */
export function readFlag<T>(flag: string, schema: z.ZodType<T>, text: string): T {
  const read = schema.safeParse(text);
  if (read.success) return read.data;
  throw new UsageError('settings', `${flag}: ${read.error.issues[0]?.message ?? 'not valid'}.`);
}

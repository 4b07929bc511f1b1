import {basename, dirname, join} from 'node:path';
import {identifyFile, isLink, isStreamPath, readFirstBytes} from '../disk/path.ts';
import {UsageError} from '../errors.ts';
import {say, setting} from '../sentence.ts';
import {type Endpoint, type Env, resolveEndpoint, resolveRedisUrl} from './endpoint.ts';
import {
  adviseOtherFormat,
  type Compression,
  compressionOf,
  formatByName,
  listOutputPaths,
  sidePathsOfOutput,
  withoutCompression,
} from './file-names.ts';
import type {SettingLocator} from './parse.ts';
import {
  createDatedPathMatcher,
  DATE,
  expandPatterns,
  fillDate,
  listEarlierDays,
  mentionsDate,
  utcDate,
} from './paths.ts';
import type {Settings} from './settings.ts';

/** Everything a run needs to know, with all defaults in place. */
export interface Job {
  readonly name?: string | undefined;
  readonly inputs: readonly string[];
  readonly output: Output;
  readonly paths: JobSidePaths;
  readonly endpoint: Endpoint;
  /** The Redis of the fleet that makes the calls; undefined if this process makes them. */
  readonly redisUrl: string | undefined;
  readonly settings: Settings;
  /** True if the settings come from a job file. A job file must name its columns: they are not guessed. */
  readonly fromFile: boolean;
  readonly jobFile?: string | undefined;
  /** True if the command, not only its job file, has `--force`: refused values are looked up again. */
  readonly isForced?: boolean;
  /** Returns the place of a setting (file and line, or flag), for messages. */
  readonly placeOf: SettingLocator;
  /** The date for `{date}`; undefined if no path has it. */
  readonly date?: string | undefined;
  /** Earlier days whose runs of this job never finished, oldest first; undefined if the output is not of a day. */
  readonly unfinished?: readonly UnfinishedDay[] | undefined;
  /** Milliseconds since the epoch at which calls end (`until`). Set by `run`, one moment for all days. */
  readonly untilMs?: number | undefined;
}

/** True if the job file has this setting, and no flag replaces it: then its author has chosen the value. */
export function isFromJobFile({fromFile, placeOf}: Pick<Job, 'fromFile' | 'placeOf'>, name: string): boolean {
  return fromFile && !placeOf([name]).startsWith('--');
}

export interface UnfinishedDay {
  readonly date: string;
  readonly directory: string;
  /** @throws {UsageError} for the same reasons as {@link resolveJob}. */
  readonly resolve: () => Job;
}

/**
 * The place for the rows; `src/run/destination.ts` writes them. `name`: its path, or `-` for any stream; `to`: path of the
 * pipe or device, or `-` for stdout. An output that `lasts` is put in place as a whole; a stream's rows can't be taken
 * back.
 */
export type Output =
  | {
      readonly kind: 'file';
      readonly name: string;
      readonly lasts: true;
      readonly compression?: Compression | undefined;
    }
  | {readonly kind: 'stream'; readonly name: string; readonly lasts: false; readonly to: string}
  /** Rows go back to the program that gave them to the library. */
  | {readonly kind: 'rows'; readonly name: '-'; readonly lasts: false};

/** Paths of the files beside the output. */
export interface JobSidePaths {
  readonly summary: string | undefined;
  readonly rejects: string | undefined;
  /** Directory of the run's state. Undefined for rows and streams without `--state`: a temporary one. */
  readonly state: string | undefined;
}

export interface UnresolvedJob
  extends Pick<Job, 'name' | 'jobFile' | 'inputs' | 'settings' | 'fromFile' | 'isForced' | 'placeOf'> {
  readonly output?: string | undefined;
  /** True if the rows come from a program that calls the library, and go back to it. */
  readonly givenRows?: boolean;
}

/**
 * Fills in a job's paths, output and endpoint. Throws UsageError if one is missing, not clear, or contradicts
 * others.
 */
export function resolveJob(
  given: UnresolvedJob,
  env: Env,
  interactive: boolean,
  warn?: (sentence: string) => void,
): Job {
  const date = given.settings.date ?? utcDate(Date.now());
  const source = withPaths(given, date);
  const {inputs, fromFile, jobFile = 'The job file'} = source;
  if (inputs.length === 0) throw new UsageError('no_input', 'No input. Name a file, or - for stdin.');
  if (inputs.filter(path => path === '-').length > 1)
    throw new UsageError('stdin_twice', 'stdin (-) can be read only once.');
  const settings = withOutputFormat(source);
  const {endpoint, verdict, offline, fleet} = settings;
  checkStore(settings);
  if (fromFile && endpoint === undefined)
    throw new UsageError(
      'job_endpoint',
      `${jobFile} names no endpoint. Add a line: "endpoint: live" (from the environment), "endpoint: embedded", or a base URL.`,
    );
  const output = source.output ?? defaultOutput(inputs, settings.outputFormat);
  return {
    ...source,
    settings,
    ...resolveOutput(output, settings, given.givenRows),
    endpoint: resolveEndpoint(endpoint, verdict?.action, env, interactive, {offline, warn}),
    redisUrl: resolveRedisUrl(fleet, '--fleet', env),
    date: mentionsDate([...given.inputs, given.output, ...namedPaths(given.settings)]) ? date : undefined,
    unfinished: unfinishedDays(given, date)?.map(day => ({
      date: day,
      directory: fillDate(`${given.output}.run`, day),
      // `restart` is for today's run only.
      resolve: () => {
        const settings = {...given.settings, date: day, restart: false};
        return resolveJob({...given, settings}, env, interactive, warn);
      },
    })),
  };
}

function checkStore({store, requireStore, offline}: Settings): void {
  if (store !== false || !(requireStore || offline)) return;
  const user = requireStore
    ? say`${setting('requireStore', true)} needs`
    : say`${setting('offline', true)} uses only`;
  throw new UsageError(
    'no_store',
    say`${user} the answer store, but ${setting('store', false)} turns it off. Remove one of them.`,
  );
}

/** The days before today, other than `date`, that have a state beside their output; undefined without `{date}`. */
function unfinishedDays({output}: UnresolvedJob, date: string): string[] | undefined {
  if (output === undefined || !mentionsDate([output])) return undefined;
  return listEarlierDays(`${output}.run`, utcDate(Date.now())).filter(day => day !== date);
}

const pathSettings = ['state', 'summary', 'rejects', 'report', 'metrics'] as const;

function namedPaths(settings: Settings): string[] {
  return pathSettings.map(name => settings[name]).filter(path => path !== undefined);
}

/** Replaces `{date}` and patterns, once: midnight changes no path of a run. Patterns skip the job's own files. */
function withPaths(source: UnresolvedJob, date: string): UnresolvedJob {
  const {output} = source;
  const settings = {...source.settings, state: datedState(source)};
  const ownAmong = (found: readonly string[]) => {
    const outputs =
      output === undefined ? found.map(path => defaultOutput([path], settings.outputFormat)) : [output];
    return createDatedPathMatcher([...outputs.flatMap(listOutputPaths), ...namedPaths(settings)]);
  };
  const onDay = (path: string | undefined) => path && fillDate(path, date);
  const paths = pathSettings.map(name => [name, onDay(settings[name])] as const);
  const inputs = source.inputs.map(path => fillDate(path, date));
  return {
    ...source,
    inputs: expandPatterns(inputs, ownAmong),
    output: onDay(output),
    settings: {...settings, ...Object.fromEntries(paths)},
  };
}

/** Each day of a job has a directory of its own in `state`: a day without credits must not block the next. */
function datedState({output, settings: {state}}: UnresolvedJob): string | undefined {
  return state !== undefined && !mentionsDate([state]) && mentionsDate([output]) ? join(state, DATE) : state;
}

/** The settings with the output's format by its name, unless a setting gives it. */
function withOutputFormat({output = '', inputs, settings}: UnresolvedJob): Settings {
  if (settings.outputFormat !== undefined) return settings;
  const advice = adviseOtherFormat(output);
  if (advice !== undefined)
    throw new UsageError(
      'output_format',
      say`${output} can't be written in the format of its name. ${advice}`,
    );
  const named = formatByName(output);
  // If the names of input and output give the same format, the delimiter stays: a .csv with tabs keeps its tabs.
  return named === undefined || named === formatByName(inputs[0] ?? '')
    ? settings
    : {...settings, outputFormat: named};
}

function resolveOutput(
  output: string,
  {summary, rejects, state}: Settings,
  givenRows = false,
): {output: Output; paths: JobSidePaths} {
  if (givenRows)
    return {
      output: {kind: 'rows', name: '-', lasts: false},
      paths: {summary, rejects: undefined, state: undefined},
    };
  const to = output === '/dev/stdout' ? '-' : output;
  if (to === '-' || isStreamPath(to))
    return {output: {kind: 'stream', name: '-', lasts: false, to}, paths: {summary, rejects, state}};
  const beside = sidePathsOfOutput(output);
  return {
    output: {kind: 'file', name: output, lasts: true, compression: compressionOf(output)},
    paths: {
      summary: summary ?? beside.summary,
      rejects: rejects ?? beside.rejects,
      state: state ?? `${isLink(output) ? identifyFile(output).path : output}.run`,
    },
  };
}

/** True if a file whose name says no format begins as NDJSON does. False for a compressed one, and for none. */
function holdsJson(path: string): boolean {
  try {
    return /^[\s\p{Cc}\uFEFF]*\[?\s*\{\s*["}]/u.test(readFirstBytes(path, 64).toString());
  } catch {
    return false;
  }
}

/** `signups.csv.gz` → `signups.enriched.csv`, beside the input. */
export function defaultOutput(inputs: readonly string[], outputFormat?: Settings['outputFormat']): string {
  const [input] = inputs;
  if (input === undefined || input === '-' || inputs.length > 1) {
    throw new UsageError(
      'no_output',
      say`Add ${setting('output', 'OUT')} if ${inputs.length > 1 ? 'there are several inputs' : 'the input is stdin'}. ${setting('output', '-')} is stdout.`,
    );
  }
  const name = withoutCompression(basename(input));
  const extension = /\.(csv|tsv|tab|txt|ndjson|jsonl|json)$/i.exec(name)?.[0] ?? '';
  // A .json input, an array of objects, becomes .ndjson: one object a line.
  const unnamed = holdsJson(input) ? '.ndjson' : '.csv';
  const kept = extension === '' ? unnamed : extension.replace(/^\.json$/i, '.ndjson');
  const stem = name.slice(0, name.length - extension.length);
  const ending = outputFormat === undefined ? kept : `.${outputFormat.replace('-bom', '')}`;
  return join(dirname(input), `${stem}.enriched${ending}`);
}

import type {z} from 'zod';

/** Commands and library calls that take a setting. Job files take all settings. */
export type Use =
  /** `run` and `plan`, as a flag. */
  | 'run'
  /** The library's `enrich`: a program gives the rows, and gets them back. */
  | 'library'
  /** Commands that open the input: a run, a plan, `init`. */
  | 'reading'
  /** As a flag of one command: each of these four words is a command's name. */
  | 'lookup'
  | 'verify'
  | 'worker'
  | 'doctor';

/**
 * Values that a run derives from settings, input and environment, and that shape its output. A resume compares
 * only the derived values. So if the user now names a column that the run had guessed, the run can still resume.
 */
export type Resolved =
  | 'endpoint'
  | 'columns'
  | 'encoding'
  | 'fields'
  | 'country'
  | 'verdict'
  | 'output_format'
  | 'score';

/** The part of a run's result that a setting changes, if the service gives the same answers. */
export type Shapes =
  /** The rows that are written. An unfinished run resumes only with the same value. */
  | 'output'
  /** A value that the run derives. Only the derived value is compared before an unfinished run resumes. */
  | Resolved
  /**
   * Only the summary, the exit code or a report. An unfinished run resumes with any value. A complete run
   * counts as done only with the same value.
   */
  | 'summary'
  /**
   * Nothing: the setting changes only how the run works and what it shows. The addresses of a fleet and of a
   * health check are here too. They may hold secrets, so they are never compared.
   */
  | 'nothing';

/** The description of a setting. Its type and its default are in its schema. */
export interface SettingMeta {
  readonly description: string;
  readonly uses: readonly Use[];
  readonly shapes: Shapes;
  /**
   * Name of the flag's value in `--help`, in `[…]` if the value is optional. Undefined for a flag without a value.
   */
  readonly value?: string;
  /** The flag may be given several times. */
  readonly repeatable?: boolean;
  /** The flag is written `--no-…` and turns the setting off. */
  readonly negated?: boolean;
  /** The default in words, if it is not a plain value. */
  readonly defaultText?: string;
}

export interface DeclaredSetting extends SettingMeta {
  readonly schema: z.ZodType;
  readonly group: string;
}

/** Declares the settings of one group. Help and docs have a heading for each group. */
export function settingsIn(group: string) {
  return <T extends z.ZodType, const M extends SettingMeta>(schema: T, meta: M) => ({
    ...meta,
    group,
    schema: schema.meta({description: meta.description, defaultText: meta.defaultText}),
  });
}

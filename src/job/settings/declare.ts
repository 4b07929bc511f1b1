import type {z} from 'zod';

/** Who takes a setting, beside job files, which take every one. */
export type Use =
  /** `run` and `plan`, as a flag. */
  | 'run'
  /** `enrich`, whose rows come from and go to the program itself. */
  | 'library'
  /** Whoever opens the input: a run, a plan, `init`. */
  | 'reading'
  /** The command of that name. */
  | 'lookup'
  | 'verify'
  | 'worker'
  | 'doctor';

/**
 * What the output depends on that a run makes of settings, the input and the environment: compared as it came out, so
 * that naming a column which was guessed before is no change.
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

/** What a setting changes of what a run comes to, as long as the service answers the same. */
export type Shapes =
  /** The rows that are written: an unfinished run goes on only with the same value. */
  | 'output'
  /** Those too, by way of this. */
  | Resolved
  /** The summary, the exit code or a report alone: a run that is complete is the same only with the same value. */
  | 'summary'
  /** Nothing: it says how the run is made and shown; addresses that may hold secrets are told apart by nobody. */
  | 'nothing';

/** What is said of a setting beside its schema, its default among that. */
export interface SettingMeta {
  readonly description: string;
  readonly uses: readonly Use[];
  readonly shapes: Shapes;
  /** How the flag's value is named in `--help`; none for a switch. In `[…]` where the flag may stand alone. */
  readonly value?: string;
  /** The flag may be given several times. */
  readonly repeatable?: boolean;
  /** The flag is written `--no-…` and turns the setting off. */
  readonly negated?: boolean;
  /** How the default is said where it isn't a plain value. */
  readonly defaultText?: string;
}

export interface DeclaredSetting extends SettingMeta {
  readonly schema: z.ZodType;
  readonly group: string;
}

/** Declares the settings of a group, as help and docs order them. */
export function settingsIn(group: string) {
  return <T extends z.ZodType, const M extends SettingMeta>(schema: T, meta: M) => ({
    ...meta,
    group,
    schema: schema.meta({description: meta.description, defaultText: meta.defaultText}),
  });
}

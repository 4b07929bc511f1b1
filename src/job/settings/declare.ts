import type {z} from 'zod';

/** Commands and library calls that take a setting. Job files take all settings. */
export type SettingUse =
  /** `run` and `plan`, as a flag. */
  | 'run'
  /** The library's `enrich`: a program gives the rows, and gets them back. (`runJob` takes the settings of a job file.) */
  | 'library'
  /** Commands that open the input: a run, a plan, `init`. */
  | 'reading'
  /** As a flag of one command: each of these four words is a command's name. */
  | 'lookup'
  | 'verify'
  | 'worker'
  | 'doctor';

/** The description of a setting. Its type and its default are in its schema. */
export interface SettingMeta {
  readonly description: string;
  /** Default: `run` and `library`. */
  readonly uses?: readonly SettingUse[];
  /**
   * False if the setting changes only how a run works and what it shows: a complete run is complete with any value of
   * it. Addresses of a fleet and of a health check may hold secrets, so they have this, too: they are in no digest.
   */
  readonly changesResult?: false;
  /**
   * Name of the flag's value in `--help`, in `[…]` if the value is optional. Undefined for a flag without a value.
   */
  readonly value?: string;
  /** It only changes what the command shows, so the library's types lack it. */
  readonly ofTerminal?: true;
  /** The flag may be given several times. */
  readonly repeatable?: boolean;
  /** The flag is written `--no-…` and turns the setting off. */
  readonly negated?: boolean;
  /** Another name for a part of a setting, which help and docs leave out. */
  readonly isUnlisted?: true;
  /** The default in words, if it is not a plain value. */
  readonly defaultText?: string;
}

export interface DeclaredSetting extends SettingMeta {
  readonly uses: readonly SettingUse[];
  readonly schema: z.ZodType;
  readonly group: string;
}

const USUAL = ['run', 'library'] as const;

type UsesOf<M extends SettingMeta> = M['uses'] extends readonly SettingUse[] ? M['uses'] : typeof USUAL;

/** Declares the settings of one group. Help and docs have a heading for each group. */
export function declareGroup(group: string) {
  return <T extends z.ZodType, const M extends SettingMeta>(schema: T, meta: M) => ({
    ...meta,
    uses: (meta.uses ?? USUAL) as UsesOf<M>,
    group,
    schema: schema.meta({description: meta.description, defaultText: meta.defaultText}),
  });
}

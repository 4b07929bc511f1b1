import {z} from 'zod';
import {type DeclaredSetting, type SettingMeta, type SettingUse, textList} from './setting-types.ts';
import {callSettings} from './settings/call-settings.ts';
import {lookupSettings} from './settings/lookup-settings.ts';
import {resultSettings} from './settings/result-settings.ts';
import {rowSettings} from './settings/row-settings.ts';
import {storeSettings} from './settings/store-settings.ts';

/** Every setting of a run, in the order of help and docs. Flags, job files, their schema and the library follow it. */
const declared = {
  ...lookupSettings,
  ...rowSettings,
  ...callSettings,
  ...storeSettings,
  ...resultSettings,
};

type AllDeclared = typeof declared;
export type SettingName = keyof AllDeclared;

const names = Object.keys(declared) as readonly SettingName[];
const shape = Object.fromEntries(names.map(name => [name, declared[name].schema])) as {
  [Name in SettingName]: AllDeclared[Name]['schema'];
};

/** All settings of a job file: the settings of every run, and a name, inputs and an output. */
export const jobSchema = z.strictObject({
  name: z
    .string()
    .regex(/^\w[\w.-]{0,63}$/, 'expected 1 to 64 letters, digits, or . _ -, not beginning with . or -')
    .optional()
    .meta({description: 'Name of the job, for its summary and its history.'}),
  input: textList().meta({description: 'The input file, or several of them.'}),
  output: z.string().optional().meta({description: 'The output file.'}),
  ...shape,
});

export type JobSettings = z.output<typeof jobSchema>;
export type Settings = Omit<JobSettings, 'name' | 'input' | 'output'>;

/** The settings that a {@link SettingUse} takes, such as the commands that read the input. */
export type SettingsFor<U extends SettingUse> = Pick<
  Settings,
  {[Name in SettingName]: U extends AllDeclared[Name]['uses'][number] ? Name : never}[SettingName]
>;

export const namesWithoutEffectOnResult: readonly SettingName[] = names.filter(name => {
  const {changesResult}: SettingMeta = declared[name];
  return changesResult === false;
});

/** A setting as the command line and the docs describe it. */
type Described = Omit<DeclaredSetting, 'schema'> & {
  readonly name: SettingName;
  readonly default: unknown;
  /** The words that the setting accepts, such as embedded and live; empty if it has no such words. */
  readonly choices: readonly string[];
};

export function describeSettings(): readonly Described[] {
  return names.map(name => {
    const {schema, ...said}: DeclaredSetting = declared[name];
    const hasDefault = schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault;
    return {
      ...said,
      name,
      default: hasDefault ? schema.def.defaultValue : undefined,
      // Computed on demand: finding the words takes time, and commands describe all settings at the start.
      get choices() {
        return choicesOf(schema);
      },
    };
  });
}

interface JsonChoices {
  readonly enum?: readonly string[];
  readonly anyOf?: readonly JsonChoices[];
}

function choicesOf(schema: z.ZodType): readonly string[] {
  const json = z.toJSONSchema(schema, {io: 'input', unrepresentable: 'any'}) as JsonChoices;
  return json.enum ?? json.anyOf?.find(choice => choice.enum !== undefined)?.enum ?? [];
}

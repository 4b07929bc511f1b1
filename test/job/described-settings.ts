import {type describeSettings, jobSchema} from '../../src/job/settings.ts';

/** The settings of a job as an interface whose members have their sentences, from what the code says of them. */
export function describedSettings(settings: ReturnType<typeof describeSettings>): string {
  const own = (['name', 'input', 'output'] as const).map(name => {
    const {description} = jobSchema.shape[name];
    return `  /** ${description} */\n  readonly ${name}${name === 'input' ? '' : '?'}: Setting<'${name}'>;\n`;
  });
  const members = settings.map(({name, description, default: value, defaultText}) => {
    const known = defaultText ?? (value === undefined ? undefined : String(value));
    return `  /** ${description}${known === undefined ? '' : ` Default: ${known}.`} */\n  readonly ${name}?: Setting<'${name}'>;\n`;
  });
  return `// Written by \`npm run schema\` from src/job/settings: what editors show of each setting is what the command's help says.
import type {WrittenJob} from '../job/settings.ts';

/** A setting as a program gives it. Its arrays and objects may be readonly. */
type Setting<Name extends keyof WrittenJob> = Unchanged<WrittenJob[Name]>;
type Unchanged<Value> = Value extends readonly (infer One)[]
  ? readonly Unchanged<One>[]
  : Value extends object
    ? {readonly [Name in keyof Value]: Unchanged<Value[Name]>}
    : Value;

/** Settings of a job, as in a job file, in camel case. */
export interface JobInput {
${[...own, ...members].join('')}}
`;
}

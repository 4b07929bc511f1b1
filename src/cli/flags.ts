import {type Command, Option} from 'commander';
import {UsageError} from '../errors.ts';
import type {SettingUse} from '../job/setting-types.ts';
import {describeSettings, type SettingName} from '../job/settings.ts';
import {defaultAges, intelligenceNames, joinWithOr, operations} from '../operations/table.ts';
import {spellName} from '../sentence.ts';

/** Texts for `--help` about operations. */
export const operationHelpTexts = {
  lookups: joinWithOr(intelligenceNames),
  values: `an ${joinWithOr(intelligenceNames.map(name => operations[name].singular))}`,
  ages: defaultAges,
};

/** Settings that `run --help` and `plan --help` show. `--help-all` shows all. */
const shownByHelp: ReadonlySet<SettingName> = new Set<SettingName>([
  ...Object.values(operations).map(({setting}) => setting as SettingName),
  ...(['endpoint', 'country', 'defaultCountry', 'where'] as const),
  ...(['outputFormat', 'rate', 'maxCredits', 'force', 'restart', 'score', 'report', 'quiet'] as const),
]);

type DescribedSetting = ReturnType<typeof describeSettings>[number];

/** Adds the flags of all settings with this use. `run` and `plan` also get -o, --job and --help-all. */
export function addSettings(command: Command, use: SettingUse, showsAll: boolean): void {
  if (use === 'run') {
    command.option(
      '-o, --output <OUT>',
      'The output; - is stdout (default: INPUT.enriched.csv beside the input)',
    );
    command.option('--job <FILE>', 'Job file with these settings. Flags override it.');
    command.option('--help-all', 'Print the help of all settings; --help has the common ones.');
  }
  for (const setting of describeSettings()) {
    if (!setting.uses.includes(use)) continue;
    const isShown = !setting.isUnlisted && (showsAll || use !== 'run' || shownByHelp.has(setting.name));
    command.addOption(optionOf(setting).hideHelp(!isShown));
    // Commander gives a `--no-…` flag the value true by default, which would override a job file's false.
    if (setting.negated) command.setOptionValue(setting.name, undefined);
    if (setting.name === 'store')
      command.addOption(
        new Option('--no-store', 'Keep no answers, and use none.')
          .helpGroup(`${setting.group}:`)
          .hideHelp(!isShown),
      );
  }
  const valued = command.options.filter(option => option.required || option.negate);
  for (const option of valued) option.argParser(option.parseArg ?? refuseRepeat(option));
}

/** Refuses a second value for a flag: Commander would drop the first one without a word. */
function refuseRepeat(option: Option) {
  const name = option.name().replace(/^no-/, '');
  return <T>(given: T, before: unknown): T => {
    if (before === option.defaultValue || (option.negate && before === false)) return given;
    const asNone = option.negate || before === false ? `, once as --no-${name}` : '';
    throw new UsageError('settings', `--${name} is given twice${asNone}. Give it once.`);
  };
}

function optionOf(setting: DescribedSetting): Option {
  const name = spellName(setting.name, '-');
  const value = setting.value === undefined ? '' : ` <${setting.value}>`;
  const text = defaultOf(setting);
  const option = new Option(
    setting.negated ? `--no-${name}` : `--${name}${value}`,
    `${setting.description}${text === '' ? '' : ` (default: ${text})`}`,
  ).helpGroup(`${setting.group}:`);
  if (setting.repeatable)
    option.argParser((given: string, before: string[] | undefined) => [...(before ?? []), given]);
  return option;
}

function defaultOf(setting: DescribedSetting): string {
  if (setting.defaultText !== undefined) return setting.defaultText;
  return setting.default === undefined || typeof setting.default === 'boolean' ? '' : String(setting.default);
}

import {expect, test} from 'vitest';
import {encodings} from '../../src/job/settings/row-settings.ts';
import {describeSettings} from '../../src/job/settings.ts';
import {spellName} from '../../src/sentence.ts';
import {expectPage, textOf} from './blocks.ts';

const page = 'docs/settings.md';
const BEGIN = '<!-- settings: begin -->';
const END = '<!-- settings: end -->';

/** One line a setting, in groups: what `--help-all` says, for reading. */
function settingsList(): string {
  const rows: string[] = [];
  let group = '';
  for (const setting of describeSettings()) {
    if (setting.isUnlisted === true) continue;
    if (setting.group !== group) {
      group = setting.group;
      rows.push('', `**${group}**`, '');
    }
    const name = spellName(setting.name, '-');
    const key = spellName(setting.name, '_');
    const value = setting.value === undefined ? '' : ` ${setting.value}`;
    const flag = setting.uses.includes('run')
      ? `--${setting.negated === true ? 'no-' : ''}${name}${value}`
      : `${key} (job files)`;
    const byDefault = defaultOf(setting);
    rows.push(`- \`${flag}\`: ${setting.description}${byDefault === '' ? '' : ` *Default: ${byDefault}.*`}`);
  }
  return rows.join('\n').trim();
}

function defaultOf({defaultText, default: value}: ReturnType<typeof describeSettings>[number]): string {
  if (defaultText !== undefined) return defaultText;
  return value === undefined || typeof value === 'boolean' ? '' : `\`${String(value)}\``;
}

test('docs/settings.md has all settings (UPDATE=1 writes it)', () => {
  const [before = '', rest = ''] = textOf(page).split(BEGIN);
  const [, after = ''] = rest.split(END);
  expectPage(page, `${before}${BEGIN}\n${settingsList()}\n${END}${after}`);
});

test('docs/formats.md names every encoding', () => {
  const [, names = ''] = /^The names: (.*)\.$/m.exec(textOf('docs/formats.md')) ?? [];
  expect(names.replaceAll('`', '').split(', ')).toEqual([...encodings]);
});

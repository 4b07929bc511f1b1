import {readFileSync, writeFileSync} from 'node:fs';
import {expect, it} from 'vitest';
import {describeSettings, spelled} from '../../src/job/settings.ts';

const path = new URL('../../README.md', import.meta.url).pathname;
const BEGIN = '<!-- settings: begin -->';
const END = '<!-- settings: end -->';

/** One row a setting, in groups: what `--help` says, for reading. */
function settingsTable(): string {
  const rows: string[] = [];
  let group = '';
  for (const setting of describeSettings()) {
    if (setting.group !== group) {
      group = setting.group;
      rows.push('', `**${group}**`, '', '| flag | meaning | default |', '|---|---|---|');
    }
    const name = spelled(setting.name, '-');
    const key = spelled(setting.name, '_');
    const value = setting.value === undefined ? '' : ` ${setting.value}`;
    const flag =
      setting.flagless === true
        ? `${key} (job files)`
        : `--${setting.negated === true ? 'no-' : ''}${name}${value}`;
    rows.push(`| \`${flag.replaceAll('|', '\\|')}\` | ${setting.description} | ${defaultOf(setting)} |`);
  }
  return rows.join('\n').trim();
}

function defaultOf({defaultText, default: value}: ReturnType<typeof describeSettings>[number]): string {
  if (defaultText !== undefined) return defaultText;
  return value === undefined || typeof value === 'boolean' ? '' : `\`${String(value)}\``;
}

it('the README has the table of all settings (UPDATE=1 writes it)', () => {
  const text = readFileSync(path, 'utf8');
  const [before = '', rest = ''] = text.split(BEGIN);
  const [, after = ''] = rest.split(END);
  const expected = `${before}${BEGIN}\n${settingsTable()}\n${END}${after}`;
  if (process.env.UPDATE === '1') writeFileSync(path, expected);
  expect(readFileSync(path, 'utf8')).toBe(expected);
});

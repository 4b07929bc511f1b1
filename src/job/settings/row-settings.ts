import {z} from 'zod';
import {formatNames} from '../file-names.ts';
import {declareGroup, wholeNumber} from '../setting-types.ts';

const rowsSetting = declareGroup('Rows');
const formatSetting = declareGroup('Format');

const words = (text: string) => text.split(' ');

/** Encodings that can be read: Unicode, and those of old programs, which iconv-lite decodes. */
export const encodings: readonly string[] = [
  ...words('utf-8 utf-16le utf-16be utf-32le utf-32be'),
  ...words('windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255 windows-1256'),
  ...words('windows-1257 windows-1258 windows-874'),
  ...words('iso-8859-1 iso-8859-2 iso-8859-5 iso-8859-7 iso-8859-9 iso-8859-15 koi8-r koi8-u macintosh'),
  ...words('cp437 cp850 cp852 cp866 shift_jis euc-jp gbk gb18030 big5 euc-kr'),
];

/** Other names. The byte order mark decides between utf-16le and utf-16be. */
const sameEncoding: Readonly<Record<string, string>> = {
  ...{ansi: 'windows-1252', latin1: 'iso-8859-1', latin2: 'iso-8859-2', macroman: 'macintosh'},
  ...{sjis: 'shift_jis', cp932: 'shift_jis', cp936: 'gbk', gb2312: 'gbk', cp949: 'euc-kr'},
  ...{utf16: 'auto', unicode: 'auto'},
};

/** The name in {@link encodings} for a spelling such as `cp1252` or `latin1`. Other texts stay unchanged. */
export function encodingNamed(text: string): string {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z\d]/g, '');
  const key = plain(text).replace(/^(?:cp|win)(?=125\d$|874$)/, 'windows');
  return sameEncoding[key] ?? encodings.find(name => plain(name) === key) ?? text;
}

/** The character that a text such as `tab`, `\\t` or `\\x01` names. */
function delimiterNamed(text: string): string {
  const code = /^\\x([\da-f]{2})$/i.exec(text)?.[1];
  if (code !== undefined) return String.fromCharCode(Number.parseInt(code, 16));
  return text === '\\t' || text === 'tab' ? '\t' : text;
}

export const rowSettings = {
  where: rowsSetting(z.string().min(1).optional(), {
    value: 'EXPR',
    description: 'Look up only rows where this is true, such as row.country == "US".',
  }),
  limit: rowsSetting(wholeNumber(1).optional(), {
    value: 'N',
    description: 'Read only the first N records.',
  }),
  inputFormat: formatSetting(z.enum(formatNames).optional(), {
    value: 'FORMAT',
    description: "The input's format: csv, tsv or ndjson.",
    defaultText: 'by content',
    uses: ['run', 'reading'],
  }),
  outputFormat: formatSetting(z.enum([...formatNames, 'csv-bom']).optional(), {
    value: 'FORMAT',
    description:
      "The output's format: csv, tsv, ndjson, or csv-bom, which begins with a byte order mark for Excel.",
    defaultText: 'by its name, else as the input',
    uses: ['run'],
  }),
  flatten: formatSetting(z.boolean().default(false), {
    description:
      'Write nested fields side by side: in CSV as columns (user.name), in NDJSON the answers as fields of the row (ip_country).',
    uses: ['run'],
  }),
  delimiter: formatSetting(
    z
      .string()
      .transform(delimiterNamed)
      .pipe(
        z
          .string()
          .length(1, 'expected one character, or tab')
          .refine(text => !/["\r\n]/.test(text), 'expected a delimiter that is no quote and no line end'),
      )
      .optional(),
    {
      value: 'CHAR',
      description: 'The delimiter of the input and the output.',
      defaultText: 'by content',
      uses: ['run', 'reading'],
    },
  ),
  encoding: formatSetting(
    z
      .preprocess(
        text => (typeof text === 'string' ? encodingNamed(text) : text),
        z.enum(['auto', ...encodings], {
          error: 'expected an encoding such as utf-8, windows-1252 or shift_jis (docs/formats.md lists all)',
        }),
      )
      .prefault('auto'),
    {
      value: 'NAME',
      description:
        'Input encoding, such as windows-1252. auto: byte order mark, then UTF-8, then a confident guess.',
      uses: ['run', 'reading'],
    },
  ),
  skipLines: formatSetting(wholeNumber(1, 1_000).optional(), {
    value: 'N',
    description: 'Skip the first N lines of each CSV file, such as a title above the header.',
    uses: ['run', 'reading'],
  }),
  padShortRows: formatSetting(z.boolean().optional(), {
    description: 'Add empty fields to CSV rows that are too short.',
    uses: ['run', 'reading'],
  }),
  escapeFormulas: formatSetting(z.enum(['answers', 'all', 'none']).default('answers'), {
    value: 'WHICH',
    description:
      "Columns to protect from running as spreadsheet formulas: answers, all (also the input's) or none.",
    uses: ['run'],
  }),
};

import {gzipSync} from 'node:zlib';

/** How a list is written, beside plain CSV. All that tells of it is in its bytes. */
export const dialects = ['tabs', 'semicolons', 'quoted', 'windows', 'utf-16', 'gzip'] as const;
export type Dialect = (typeof dialects)[number];

/** The bytes of a list that is given as plain CSV. */
export function written(text: string, dialect: Dialect | undefined): Buffer {
  switch (dialect) {
    case 'tabs':
      return Buffer.from(text.replaceAll(',', '\t'));
    case 'semicolons':
      return Buffer.from(text.replaceAll(',', ';'));
    case 'quoted':
      return Buffer.from(text.replaceAll(/^.+$/gm, line => `"${line.replaceAll(',', '","')}"`));
    case 'windows':
      return Buffer.from(`\ufeff${text.replaceAll('\n', '\r\n')}`);
    case 'utf-16':
      return Buffer.from(`\ufeff${text}`, 'utf16le');
    case 'gzip':
      return gzipSync(text);
    case undefined:
      return Buffer.from(text);
  }
}

/** An output as plain CSV: it is written as its input was. No cell of the lists has any of these characters. */
export function asPlain(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\t;]/g, ',');
}

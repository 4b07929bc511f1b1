import {gzipSync} from 'node:zlib';

/** How a list is written, beside plain CSV. All that tells of it is in its bytes, but for objects. */
export const dialects = ['tabs', 'semicolons', 'quoted', 'windows', 'utf-16', 'gzip', 'objects'] as const;
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
    case 'objects':
      return Buffer.from(asObjects(text));
    case undefined:
      return Buffer.from(text);
  }
}

/** True for a list of objects, whose name says another thing. */
export function isOfObjects(list: Buffer): boolean {
  return list.subarray(0, 1).toString() === '{';
}

/** A line for each row. One with a cell too many is an object that does not end. */
function asObjects(text: string): string {
  const [header = '', ...lines] = text.split('\n').slice(0, -1);
  const names = header.split(',');
  const objects = lines.map(line => {
    const cells = line.split(',');
    const object = JSON.stringify(Object.fromEntries(names.map((name, at) => [name, cells[at]])));
    return cells.length > names.length ? object.slice(0, -1) : object;
  });
  return objects.map(object => `${object}\n`).join('');
}

/** An output as plain CSV: it is written as its input was. No cell of the lists has any of these characters. */
export function asPlain(text: string): string {
  return text
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n')
    .replaceAll(/[\t;]/g, ',');
}

import iconv from 'iconv-lite';
import {describe, expect, it} from 'vitest';
import {detectEncoding} from '../../src/input/bytes/detect-encoding.ts';
import {failureOf, fieldsOf, readBytes, rejectsOf} from './reading.ts';

const text = 'name;city\r\nZoë;"Łódź\n😀"\r\n';
const littleEndian = (content: string) => Buffer.from(content, 'utf16le');
const bigEndian = (content: string) => Buffer.from(content, 'utf16le').swap16();
const expected = [['Zoë', 'Łódź\n😀']];

describe('UTF-16', () => {
  it.each([
    ['little-endian', littleEndian(`\ufeff${text}`)],
    ['big-endian', bigEndian(`\ufeff${text}`)],
  ])('%s by its mark, however it is cut', async (_, bytes) => {
    for (const size of [1, 2, 3, 1_000]) {
      const {format, records} = await readBytes(bytes, {}, size);
      expect(format).toMatchObject({bom: true, delimiter: ';', header: ['name', 'city'], eol: '\r\n'});
      expect(fieldsOf(records)).toEqual(expected);
    }
  });

  it('without a mark, when asked for; else the error says so', async () => {
    const {format, records} = await readBytes(littleEndian(text), {encoding: 'utf-16le'});
    expect(format).toMatchObject({bom: false});
    expect(fieldsOf(records)).toEqual(expected);
    expect(fieldsOf((await readBytes(bigEndian(text), {encoding: 'utf-16be'})).records)).toEqual(expected);
    for (const encoding of ['utf-16le', 'utf-16be', 'utf-32le', 'utf-32be']) {
      const error = await failureOf(readBytes(iconv.encode(text, encoding, {addBOM: false})));
      expect(error.message).toContain(`--encoding ${encoding}.`);
    }
  });

  it('rejects records with half a character instead of changing them', async () => {
    const text = '\ufeffa,b\n1,\ud83d\n2,\ude00x\n3,\ufffd\n4,x';
    const bytes = Buffer.concat([littleEndian(text), Buffer.from([1])]);
    for (const size of [1, 5, 1_000]) {
      const {records} = await readBytes(bytes, {}, size);
      expect(rejectsOf(records).map(({line}) => line)).toEqual([2, 3, 5]);
      expect(new Set(rejectsOf(records).map(({reason}) => reason))).toEqual(new Set(['invalid_encoding']));
      expect(fieldsOf(records)).toEqual([['3', '\ufffd']]);
    }
  });
});

describe('windows-1252', () => {
  it('is read when asked for; a byte that means nothing in it rejects its record', async () => {
    const bytes = Buffer.from('a,b\nZo\xeb,\x80\x99\n1,\x81\x9d\n2,\xff\n', 'latin1');
    for (const size of [1, 1_000]) {
      const {records} = await readBytes(bytes, {encoding: 'windows-1252'}, size);
      expect(fieldsOf(records).join('|')).toBe('Zoë,€™|2,ÿ');
      const raw_base64 = Buffer.from('1,\xff\xff', 'latin1').toString('base64');
      expect(rejectsOf(records)).toMatchObject([{line: 3, reason: 'invalid_encoding', raw_base64}]);
    }
  });
});

it.each([
  ['efbbbf61', 'auto', 'utf-8', 3],
  ['fffe6100', 'auto', 'utf-16le', 2],
  ['feff0061', 'auto', 'utf-16be', 2],
  ['6162', 'auto', 'utf-8', 0],
  ['efbbbf61', 'utf-8', 'utf-8', 3],
  ['efbbbf61', 'windows-1252', 'windows-1252', 0],
  ['fffe', 'utf-16be', 'utf-16be', 0],
] as const)('%s with the setting %s is %s', (head, setting, name, bomBytes) => {
  expect(detectEncoding(Buffer.from(head, 'hex'), setting)).toEqual({name, bomBytes});
});

it.each(['gbk', 'shift_jis', 'euc-kr', 'macintosh', 'utf-32le'] as const)(
  '%s is read where it is named, however it is cut',
  async encoding => {
    const city = {gbk: '王伟', shift_jis: '田中', 'euc-kr': '김민수'}[encoding as string] ?? 'José';
    const bytes = iconv.encode(`a,b\n1,${city}\n`, encoding, {addBOM: false});
    for (const size of [1, 2, 3, 1_000])
      expect(fieldsOf((await readBytes(bytes, {encoding}, size)).records)).toEqual([['1', city]]);
  },
);

it('UTF-8 with damage in it stays UTF-8, and so does a single word that may be damaged', () => {
  const word = Buffer.from('Müller,jo@example.com\n', 'latin1');
  expect(detectEncoding(word, 'auto')).toMatchObject({name: 'utf-8', guess: 'unsure'});
  const head = Buffer.concat([Buffer.from('Zoë,Łódź,Ærø\n'), Buffer.from('Jürgen,Größe,Weiß\n', 'latin1')]);
  expect(detectEncoding(head, 'auto')).toMatchObject({name: 'utf-8', guess: 'mixed'});
  expect(detectEncoding(Buffer.from('Zoë').subarray(0, 3), 'auto')).toEqual({name: 'utf-8', bomBytes: 0});
});

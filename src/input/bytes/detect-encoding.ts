import {isUtf8} from 'node:buffer';
import {type Said, say, setting} from '../../sentence.ts';
import {type EncodingGuess, guessEncoding} from './guess-encoding.ts';
import type {Encoding, EncodingName, InputEncoding} from './transcode.ts';

/** An encoding, and how certain it is. */
export type DetectedEncoding = Encoding & Partial<EncodingGuess>;

/** The encoding that the setting names. For `auto`: that of a byte order mark, else UTF-8, else a guess by the letters. */
export function detectEncoding(head: Buffer, setting: InputEncoding): DetectedEncoding {
  const marked = byteOrderMark(head);
  if (setting !== 'auto') return marked?.name === setting ? marked : {name: setting, bomBytes: 0};
  if (marked !== undefined) return marked;
  const whole = wholeCharacters(head);
  if (!isUtf8(whole)) return {name: 'utf-8', bomBytes: 0, ...guessEncoding(head)};
  return {name: 'utf-8', bomBytes: 0, ...(whole.some(byte => byte > 0x7f) && {guess: 'shown'})};
}

const MARKS: readonly (readonly [bytes: string, EncodingName])[] = [
  ['efbbbf', 'utf-8'],
  // In UTF-16 this would be a byte order mark and a NUL, but no list begins with a NUL.
  ['fffe0000', 'utf-32le'],
  ['fffe', 'utf-16le'],
  ['feff', 'utf-16be'],
];

function byteOrderMark(head: Buffer): Encoding | undefined {
  const start = head.toString('hex', 0, 4);
  const mark = MARKS.find(([bytes]) => start.startsWith(bytes));
  return mark && {name: mark[1], bomBytes: mark[0].length / 2};
}

/** Leaves out a last character outside ASCII, since the end of the sample may divide it. */
function wholeCharacters(head: Buffer): Buffer {
  let end = head.length;
  while (end > 0 && end > head.length - 4 && ((head[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end > 0 && (head[end - 1] ?? 0) >= 0xc0 ? head.subarray(0, end - 1) : head;
}

/** Notes for the user on a file's encoding. */
export function describeEncoding(
  file: string,
  {guess, name, likely: [first, ...others] = []}: DetectedEncoding,
): Said[] {
  if (guess === 'sure')
    return [
      say`${file} is not UTF-8: it is read as ${name} and written as UTF-8. If letters look wrong, add ${setting('encoding')}.`,
    ];
  if (guess === 'mixed')
    return [
      say`${file} has rows in two encodings: some lines are UTF-8, and others are not. Those in UTF-8 are read, the others are rejected. No ${setting('encoding')} fits both: save each part as UTF-8, and join them again.`,
    ];
  if (guess !== 'unsure') return [];
  const advice =
    first === undefined
      ? say`Name its encoding (${setting('encoding', 'windows-1252')}, windows-1250, shift_jis, gbk, big5, euc-kr, macintosh, cp850, …), or save it as UTF-8: iconv -f ENCODING -t utf-8`
      : others.length > 0
        ? say`It may be ${[first, ...others].join(' or ')} (${setting('encoding', first)}): compare some names before you pay`
        : say`It looks like ${first}: add ${setting('encoding', first)}`;
  return [
    say`${file} is not all UTF-8, and its encoding can't be guessed. Such rows are rejected. ${advice}.`,
  ];
}

/** The `detail` of a record with bytes that are invalid in the file's encoding, and the encoding to try. */
export interface EncodingFault {
  readonly detail: Said;
  readonly perhaps?: EncodingName;
}

export function describeEncodingFault({
  guess,
  likely: [first, ...others] = [],
}: DetectedEncoding): EncodingFault {
  if (guess === 'mixed' || guess === 'shown')
    return {
      detail: 'the text is not UTF-8, and other lines are: the list was joined from files in two encodings',
    };
  const not = 'the text is not valid in its encoding';
  if (first === undefined)
    return {
      detail: say`${not}; name the right one (${setting('encoding')}), or save the list as UTF-8 (iconv -f NAME -t utf-8)`,
    };
  if (others.length === 0)
    return {detail: say`${not}, and looks like ${first}: ${setting('encoding', first)}`, perhaps: first};
  return {
    detail: say`${not}, and may be ${[first, ...others].join(' or ')}: try one with ${setting('encoding')}, and compare some names`,
    // Any of several Asian encodings gives letters, and nothing shows that they are wrong.
    ...(first === 'windows-1252' && {perhaps: first}),
  };
}

import {Readable} from 'node:stream';
import {describe, expect, it} from 'vitest';
import {CsvReader} from '../../src/input/records/csv-reader.ts';
import {columnNames, noInput, numberedColumns} from '../../src/input/row.ts';
import {failureOf, fieldsOf, readBytes, rejectsOf} from './reading.ts';

const lines = (records: readonly {line: number}[]) => records.map(({line}) => line);

describe('dialects', () => {
  it.each([
    ['one that cuts all records alike', ';', 'a,x;b,y;c\n1;2,5;3\n4;5,5;6,5\n'],
    ['the one with many fields, which a few rows lack', ';', 'A, 1;1;a;b;x\nA, 2;2;a;b\nA, 3;3;a;b;x\n'],
    ['the one with more fields, of two that do', ';', 'a,x;b;c\n1,5;2;3\n'],
    ['the one with more fields, whichever comes first', ',', 'a,b,c;x\n1,2,3;4\n'],
    ['past blank lines', ';', '\n\na;b\n1;2\n'],
    ['past a quote inside a field', ';', 'a;b,c\n5" pipe;1\n7;2\n8;3\n'],
    ['one that addresses may have', '^', 'ip^email\n192.0.2.1^jo@example.com\n192.0.2.2^al@example.com\n'],
    ['another', '~', 'ip~email\n192.0.2.1~jo@example.com\n'],
    ['not one that only some have', ',', 'e~mail\njo~x@example.com\nal@example.com\n'],
    ['not one in a header alone', ',', 'e~mail\n'],
    ['not one beside another', ',', 'a~b,c\n1~2,3\n'],
    ['past delimiters in quotes', ';', '"a,x";b\n"1,5,6";2\n'],
    ['by what can be read', ';', '"email";"name, first"\n"a@example.com";"Doe, Jane"\n'],
    ['past a line that can’t be read', ';', 'a;b\n"1"x;2\n"3,4";5\n'],
    ['without a last line end', '|', '"a, b"|c'],
    ['a comma where there is none', ',', 'a\nb;c\n'],
  ])('guesses %s: %j', async (_, delimiter, text) => {
    expect((await readBytes(text)).format).toMatchObject({delimiter});
  });

  it.each([
    ['\n', 'a,b\n1,2\n3,4'],
    ['\r\n', 'a,b\r\n1,2\r\n3,4'],
    ['\r', 'a,b\r1,2\r3,4'],
    ['\r\n', 'a,b\r\n1,2\n3,4\r\n'],
    ['\n', '"a\r\nx",b\n1,2\n3,4\r\n'],
  ])('knows the line end %j', async (eol, text) => {
    const {format, records} = await readBytes(text);
    expect(format).toMatchObject({eol});
    expect(fieldsOf(records).join('|')).toBe('1,2|3,4');
  });
});

describe('blank lines', () => {
  it('are skipped and counted', async () => {
    const {records, blankLines} = await readBytes('\n\na,b\n\n1,2\r\n\r\n  \n3,4\n\n');
    expect(lines(records)).toEqual([5, 8]);
    expect(records.map(({record}) => record)).toEqual([1, 2]);
    expect(blankLines).toBe(6);
  });

  it('are rows of a single column, but for those at the end', async () => {
    const {records, blankLines} = await readBytes('ip\n\n1.1.1.1\n\n\n8.8.8.8\n\n\n', {}, 1);
    expect(fieldsOf(records)).toEqual([[''], ['1.1.1.1'], [''], [''], ['8.8.8.8']]);
    expect(lines(records)).toEqual([2, 3, 4, 5, 6]);
    expect(blankLines).toBe(2);
  });

  it('of a single column keep their place before a line that is rejected', async () => {
    const {records} = await readBytes('ip\n1.1.1.1\n\n8.8.8.8,x\n9.9.9.9\n', {}, 1);
    expect(records).toMatchObject([
      {record: 1, line: 2, fields: ['1.1.1.1']},
      {record: 2, line: 3, fields: ['']},
      {record: 3, line: 4, reason: 'column_count', raw: '8.8.8.8,x'},
      {record: 4, line: 5, fields: ['9.9.9.9']},
    ]);
  });

  it('are not confused with a quoted empty value', async () => {
    const {records, blankLines} = await readBytes('ip\n1.1.1.1\n""');
    expect([fieldsOf(records), blankLines]).toEqual([[['1.1.1.1'], ['']], 0]);
  });
});

describe('rejects', () => {
  it('sets ragged rows aside', async () => {
    const {records} = await readBytes('a,b,c\n1,2,3\n1,"x\ny"\n1,2,3,4\n4,5,6\n');
    const [few, many, ...others] = rejectsOf(records);
    const why = {reason: 'column_count', detail: 'expected 3 fields, found 2'};
    expect(few).toEqual({type: 'reject', file: 'stdin', record: 2, line: 3, raw: '1,"x\ny"', ...why});
    expect(many).toMatchObject({record: 3, line: 5, detail: 'expected 3 fields, found 4'});
    expect(others).toEqual([]);
    expect(records[3]).toEqual({type: 'csv', record: 4, line: 6, fields: ['4', '5', '6']});
  });

  it.each([
    ['in a field', '5" pipe,x,y'],
    ['behind a quoted field', '"a"b,x,y'],
  ])('rejects only the line with a bad quote %s and a field too many', async (_, bad) => {
    const {records} = await readBytes(`a,b\n1,2\n${bad}\n3,4\n`);
    expect(records).toMatchObject([
      {type: 'csv', record: 1, line: 2},
      {type: 'reject', record: 2, line: 3, reason: 'invalid_quote', raw: bad},
      {type: 'csv', record: 3, line: 4},
    ]);
  });

  it.each([1, 7, 1 << 16])(
    'loses one line to each quote that is never closed, in chunks of %i',
    async size => {
      const rows = Array.from({length: 1_000}, (_, i) => `${i},row\n`);
      const text = `a,b\n${rows.join('')}7,"oops\n${rows.join('')}${'1,"x\n2,y\n'.repeat(50)}`;
      const {records} = await readBytes(text, {maxRecordSize: 4_096}, size);
      expect(records).toHaveLength(2_101);
      const [first, ...others] = rejectsOf(records);
      expect(first).toMatchObject({record: 1_001, line: 1_002, reason: 'unclosed_quote', raw: '7,"oops'});
      expect(others).toHaveLength(50);
      expect(fieldsOf(records)).toHaveLength(2_050);
    },
  );

  it('skips a field of 100 MB without holding it', async () => {
    async function* big() {
      yield Buffer.from('a,b\n1,2\n');
      const chunk = Buffer.alloc(1024 * 1024, 'x');
      for (let i = 0; i < 100; i++) yield chunk;
      yield Buffer.from(',z\n3,4\n');
    }
    const before = process.memoryUsage().arrayBuffers;
    const {records} = await readBytes('', {stdin: Readable.from(big())});
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
    expect(fieldsOf(records).join('|')).toBe('1,2|3,4');
    const [reject] = rejectsOf(records);
    expect(reject).toMatchObject({record: 2, line: 3, reason: 'too_large', raw_truncated: true});
    expect(reject?.detail).toContain('104857602 bytes');
    expect(reject?.raw).toHaveLength(64 * 1024);
  });

  it.each([1, 9, 10_000])(
    'accepts a record of exactly the limit, of one line or several, in chunks of %i',
    async size => {
      const [one, two] = ['v'.repeat(98), `v\n${'v'.repeat(94)}`];
      const text = `a,b\n1,${one}\n1,${one}w\n1,"${two}"\n1,"${two}w"\n1,"${'y\n'.repeat(300)}"\n3,4\n`;
      const {records} = await readBytes(text, {maxRecordSize: 100}, size);
      expect(records.slice(0, 5)).toMatchObject([
        {type: 'csv', fields: ['1', one]},
        {type: 'reject', reason: 'too_large'},
        {type: 'csv', fields: ['1', two]},
        {type: 'reject', reason: 'unclosed_quote', line: 6},
        {type: 'reject', line: 7},
      ]);
      expect(records[5]).toMatchObject({reason: 'unclosed_quote', line: 8, raw: '1,"y'});
      expect(records.at(-1)).toMatchObject({type: 'csv', line: 309, fields: ['3', '4']});
    },
  );

  it.each([
    ['one line', 'v'.repeat(98), ''],
    ['several lines', `v\n${'v'.repeat(94)}`, '"'],
  ])('counts no line end that is not there: a last record of %s', async (_, value, quote) => {
    const read = (more: string) =>
      readBytes(`a,b\n1,${quote}${value}${more}${quote}`, {maxRecordSize: 100}, 9);
    expect((await read('')).records).toMatchObject([{type: 'csv', fields: ['1', value]}]);
    expect((await read('w')).records[0]).toMatchObject({type: 'reject', line: 2});
  });

  it.each(['\n', '\r\n', '\r'])('shows a row without its line end %j', async eol => {
    const {records} = await readBytes(['a,b', '1', '2,3', ''].join(eol));
    expect(records).toMatchObject([{reason: 'column_count', raw: '1'}, {line: 3}]);
  });

  it('cuts a long text between two characters, and says so', async () => {
    const {records} = await readBytes(`a,b\nx${'é'.repeat(40_000)}\n`);
    const cut = {reason: 'column_count', raw: `x${'é'.repeat(32_767)}`, raw_truncated: true};
    expect(rejectsOf(records)).toMatchObject([cut]);
    expect(rejectsOf(records)[0]?.raw_base64).toBeUndefined();
  });

  it('rejects records that are not UTF-8 and keeps their bytes, also where a quote is the reason', async () => {
    const [bad, open] = ['2,caf\xe9', '"caf\xe9,x'];
    const text = Buffer.from(`a,b\n1,\xc3\xa9\n${bad}\n3,4\n${open}\n`, 'latin1');
    expect((await readBytes(text)).records).toMatchObject([
      {fields: ['1', 'é']},
      {line: 3, reason: 'invalid_encoding', raw: '2,caf\ufffd', raw_base64: btoa(`${bad}`)},
      {fields: ['3', '4']},
      {reason: 'unclosed_quote', raw: '"caf\ufffd,x', raw_base64: btoa(`${open}`)},
    ]);
  });
});

const reader = (maxRecordSize: number) =>
  new CsvReader({
    ...{file: 'a.csv', maxRecordSize, tally: noInput(), badBytes: {detail: ''}},
    dialect: {delimiter: ',', eol: '\n', sepLineBytes: 0},
    ...{header: true, width: 2, lines: 0, groupLines: [], below: 0, padShortRows: false},
  });

/** The groups in which records come for these chunks, and at the end. */
async function groupsOf(csv: CsvReader, ...chunks: readonly string[]) {
  const groups = [];
  for await (const group of csv.read(Readable.from(chunks.map(chunk => Buffer.from(chunk)))))
    groups.push(group);
  return groups;
}

describe('an open quote', () => {
  it('holds rows back no longer than the record lasts', async () => {
    const groups = await groupsOf(reader(100_000), 'a,b\n1,"x\n', 'y\n', 'z"\n2,3\n');
    expect(groups).toMatchObject([[], [], [{line: 2, fields: ['1', 'x\ny\nz']}, {line: 5}], []]);
  });

  it('holds no more than the limit', async () => {
    const plain = Array.from({length: 200}, () => '2,plain\n');
    const records = (await groupsOf(reader(1_000), 'a,b\n1,"x\n', ...plain)).slice(0, -1).flat();
    expect(records.length).toBeGreaterThan(70);
    expect(records[0]).toMatchObject({line: 2, reason: 'unclosed_quote'});
  });

  it('before a line that is too long: both are rejected, in their order', async () => {
    const {records} = await readBytes(`a,b\n1,"x\n${'y'.repeat(50)}\n3,4\n`, {maxRecordSize: 20});
    const told = records.map(record => `${record.line} ${record.type === 'reject' && record.reason}`);
    expect(told).toEqual(['2 unclosed_quote', '3 too_large', '4 false']);
  });

  it('is called the same where an escaped quote lies on the limit', async () => {
    const text = 'aa,b\n1,"\nxxx""\nyy"z\n';
    const reasons = [[...text], [text]].map(async chunks =>
      (await groupsOf(reader(7), ...chunks)).flat().map(record => record.type === 'reject' && record.reason),
    );
    expect(await reasons[0]).toEqual(await reasons[1]);
    expect((await reasons[0])?.[0]).toBe('unclosed_quote');
  });
});

it('a header alone is a success', async () => {
  const {format, records} = await readBytes('ip,email');
  expect([format, records]).toEqual([expect.objectContaining({columns: ['ip', 'email']}), []]);
});

it.each([
  ['an open quote', '\na,"b\n1,2\n', 'line 2'],
  ['an endless line', `${'a,'.repeat(200)}\n`, 'limit'],
  ['foreign bytes', Buffer.from('pr\xe9nom,b\n', 'latin1'), '--encoding windows-1252'],
])('a header with %s is an error', async (_, text, hint) => {
  const error = await failureOf(readBytes(text, {maxRecordSize: 100}));
  expect([error.code, error.message]).toEqual(['input_header', expect.stringContaining(hint)]);
});

it('a short row is filled up where that is asked for; a long one is not cut', async () => {
  const {records} = await readBytes('a,b,c\n1\n1,2,3,4\n', {padShortRows: true});
  expect(records).toMatchObject([{fields: ['1', '', '']}, {type: 'reject', reason: 'column_count'}]);
  expect((await readBytes('a,b,c\n1\n1,2,3\n1,2\n', {padShortRows: true}, 3)).paddedRows).toBe(2);
});

it.each([1, 5, 4_096])(
  '="…" that is not quoted is a field, and other quotes inside fields are letters where the row fits (chunks of %i)',
  async size => {
    const text = 'a,b\n="01,2",x\n="1""2",x\n="1",y"\n"q",="3"\n="1,2,x\n';
    const {records} = await readBytes(text, {}, size);
    expect(records).toMatchObject([
      {line: 2, fields: ['="01,2"', 'x']},
      {line: 3, fields: ['="1""2"', 'x']},
      {line: 4, fields: ['="1"', 'y"']},
      {line: 5, fields: ['q', '="3"']},
      {line: 6, reason: 'invalid_quote'},
    ]);
  },
);

it('quotes that are read as letters are spoken of with the first line that has some, not those of ="…"', async () => {
  expect((await readBytes('a,b\n="1",x\n="2",y\n')).notes).toEqual([]);
  const {notes} = await readBytes('a,b\n="1",x\n5" pipe,y\n6" pipe,z\n');
  const note = 'stdin has quotes inside fields that are not quoted (line 3)';
  expect(notes).toEqual([expect.stringContaining(note)]);
});

it('a sep line below the skipped lines is no header', async () => {
  const {records, format} = await readBytes('Title\nsep=;\na;b\n1;2\n', {skipLines: 1});
  expect(format).toMatchObject({header: ['a', 'b'], delimiter: ';', sepLine: true});
  expect(records).toMatchObject([{line: 4, fields: ['1', '2']}]);
});

it.each(['a,b\n1,2\n', `${'long,'.repeat(30)}\n`.repeat(900)])(
  'more lines to skip than are searched for the header are refused: no line that was to be skipped is a row',
  async text => {
    const refused = {code: 'input_header', message: expect.stringContaining('tail -n +1001')};
    await expect(readBytes(text, {skipLines: 1_000})).rejects.toMatchObject(refused);
  },
);

it('the line that repeats the header has a letter: numbers and blanks are values', async () => {
  expect((await readBytes('1,2\n1,2\n')).records).toMatchObject([{fields: ['1', '2']}]);
  expect((await readBytes('a,b\na,B\n')).records).toMatchObject([{fields: ['a', 'B']}]);
  expect((await readBytes('a,b\na,b\n', {header: false})).records).toHaveLength(2);
});

it('lines of one cell are no footer if there are many, or if a row may be cut off', async () => {
  const rows = 'a,b\n1,2\n3,4\n';
  expect(rejectsOf((await readBytes(`${rows}5`)).records)).toHaveLength(1);
  const [, , footer] = (await readBytes(`${rows}5\n`)).records;
  expect(footer).toEqual({type: 'csv', record: 3, line: 4, fields: ['5', ''], isFooter: true});
  const many = (await readBytes(`${rows}${'x\n'.repeat(40)}`)).records;
  expect(rejectsOf(many).map(({line}) => line)).toEqual(Array.from({length: 40}, (_, n) => n + 4));
});

it('a delimiter too many at the end of all rows is a column', async () => {
  const {format} = await readBytes('a,b,\n1,2,\n3,4,\n');
  expect(format).toMatchObject({columns: ['a', 'b', 'column_3']});
});

it.each([
  ['a,b', 'a,b'],
  ['a,a,a', 'a,a#2,a#3'],
  ['a,, ', 'a,column_2,column_3'],
  ['a,a,a#2', 'a,a#3,a#2'],
  [',column_1,column_1', 'column_1#2,column_1,column_1#3'],
  ['a,A, a', 'a,A, a'],
])('the header %j has the columns %j', (header, names) => {
  expect(columnNames(header.split(',')).join()).toBe(names);
});

it('columns are named quickly where a name is repeated very often', () => {
  const names = columnNames(new Array(100_000).fill('a'));
  expect(new Set(names).size).toBe(100_000);
});

it('the columns of a file without a header have numbers', () => {
  expect(numberedColumns(2)).toEqual(['column_1', 'column_2']);
});

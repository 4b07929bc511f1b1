import iconv from 'iconv-lite';
import {expect, it} from 'vitest';
import {guessByLetters, likelyCjkEncodings} from '../../src/input/bytes/guess-encoding.ts';

const list = (encoding: string, names: string) => {
  const rows = names.split('|').map((name, n) => `${n};${name};p${n}@example.com\n`);
  return iconv.encode(rows.join(''), encoding);
};

/** The encoding that is guessed for a list. */
const told = (encoding: string, names: string) => {
  const found = guessByLetters(list(encoding, names));
  return found?.mayRead === true ? found.names[0] : undefined;
};

it.each([
  ['windows-1252', 'José Núñez|María Peña|Ángel Muñoz|Íñigo Ibáñez|Begoña Gutiérrez|Raúl Martínez'],
  ['windows-1252', 'Åsa Öberg|Björn Åkesson|Märta Sjöström|Göran Söderlund|Örjan Hägg'],
  ['windows-1252', 'François Lefèvre|Hélène Dupré|Renée – Müller|Jérôme Côté|Gaëlle Noël'],
  ['windows-1252', 'Jürgen Müller|Anna Weiß|Björn Größe|Käthe Schäfer'],
  ['windows-1252', 'João Gonçalves|Conceição Magalhães|Antônio Araújo|Luís Guimarães'],
  ['windows-1252', 'Jürgen Müller|José Núñez|François Lefèvre|Åsa Öberg'],
  ['windows-1250', 'Jiří Dvořák|Zdeněk Černý|Lukáš Kučera|Tomáš Růžička|Ondřej Šťastný'],
  ['iso-8859-2', 'Jiří Dvořák|Zdeněk Černý|Lukáš Kučera|Tomáš Růžička|Ondřej Šťastný'],
  ['windows-1250', 'Győző Szűcs|László Kovács|Erzsébet Tóth|Gergő Fekete|Sándor Vörös|Bálint Szőke'],
  ['windows-1250', 'Łukasz Wójcik|Małgorzata Wiśniewska|Paweł Dąbrowski|Grażyna Zając'],
  ['windows-1254', 'Ayşe Yılmaz|Oğuz Çelik|Gülşen Öztürk|Işıl Şahin|Uğur Doğan|İbrahim Yıldız'],
  ['windows-1257', 'Jūratė Žukauskienė|Šarūnas Kazlauskas|Ąžuolas Petrauskas|Gintarė Čepaitė'],
  ['windows-1251', 'Иванов Пётр|Сергей Кузнецов|Ольга Смирнова|Юлия Щукина'],
  ['windows-1251', 'Олексій Шевченко|Наталія Коваленко|Юрій Бондаренко|Євген Ткаченко'],
  ['koi8-r', 'Иванов Пётр|Сергей Кузнецов|Ольга Смирнова|Юлия Щукина'],
  ['windows-1253', 'Γιώργος Παπαδόπουλος|Μαρία Νικολάου|Ελένη Γεωργίου'],
  ['windows-1252', 'Müller'],
  ['windows-1250', 'Woźniak|Małgorzata Śliwa|Źródło'],
])('%s is told by its letters: %s', (encoding, names) => {
  expect(told(encoding, names)).toBe(encoding);
});

it.each([
  ['gbk', '王伟|李娜|张敏|刘洋|陈静|杨光'],
  ['shift_jis', '田中太郎|山田花子|鈴木一郎|佐藤さくら|タナカ'],
  ['euc-jp', '田中太郎|山田花子|鈴木一郎'],
  ['euc-kr', '김민수|이영희|박지성'],
  ['macintosh', 'José Núñez|María Peña|Ángel Muñoz|Jürgen Müller'],
  ['macintosh', 'Jürgen Müller|Köln|Björn|Jörg'],
  ['cp850', 'José Núñez|María Peña|Ángel Muñoz|Jürgen Müller'],
  ['windows-1255', 'דוד כהן|שרה לוי'],
  // Letters of two languages in two encodings alike.
  ['windows-1252', 'Peña'],
])('%s is not taken for another encoding: %s', (encoding, names) => {
  expect(told(encoding, names)).toBeUndefined();
});

it.each([
  ['macintosh', 'José Núñez|María Peña|Ángel Muñoz|Jürgen Müller'],
  ['macintosh', 'Jürgen Müller|Köln|Björn|Jörg'],
  ['macintosh', 'Åsa Öberg|Björn Åkesson|Märta Sjöström'],
  ['cp850', 'José Núñez|María Peña|Ángel Muñoz|Jürgen Müller'],
])('%s is named to a person: %s', (encoding, names) => {
  expect(guessByLetters(list(encoding, names))).toMatchObject({names: [encoding], mayRead: false});
});

it.each([
  ['shift_jis', '田中太郎|山田花子|鈴木一郎|佐藤さくら|タナカ'],
  ['shift_jis', '田中太郎|山田花子|鈴木一郎'],
  ['shift_jis', '氏名|電話番号|東京都'],
  ['euc-jp', '田中太郎|さくら|タナカ'],
  ['gbk', '王伟|李娜|张敏|刘洋|陈静|杨光'],
  ['gbk', '姓名|电话|北京市|上海市|客户'],
  ['big5', '王小明|李大華|陳美玲|電話號碼|姓名'],
  ['euc-kr', '김민수|이영희|박지성'],
  ['euc-kr', '이름|전화번호|서울특별시'],
])('%s is the likeliest: %s', (encoding, names) => {
  expect(likelyCjkEncodings(list(encoding, names))[0]).toBe(encoding);
});

it.each([
  ['windows-1252', 'Jürgen Müller|Anna Weiß|Björn Größe'],
  ['windows-1251', 'Иванов Пётр|Сергей Кузнецов|Ольга Смирнова'],
  ['windows-1255', 'דוד כהן|שרה לוי'],
  ['macintosh', 'José Núñez|María Peña|Ángel Muñoz'],
  ['gbk', '王'],
])('%s is no such encoding, or too short: %s', (encoding, names) => {
  expect(likelyCjkEncodings(list(encoding, names))).toEqual([]);
});

it('one Hebrew word is too few to name its encoding', () => {
  expect(guessByLetters(list('windows-1255', 'דוד'))).toBeUndefined();
  expect(guessByLetters(list('windows-1255', 'דוד כהן'))).toMatchObject({names: ['windows-1255']});
});

/** Encodings of lists. */
export const encodings = `
Japanese in Windows' encoding, the header too ▸ [in cp932] 氏名,電話番号,国 ⏎ 6× 田中太郎,03-1234-567{n},日本 ▸ input_header ▸ the header can't be read: the text is not valid in its encoding; name the right one (--encoding)
Japanese rows below an ASCII header ▸ [in cp932] name,email ⏎ 6× 山田花子{n},p{n}@example.com ▸ input_rejected ▸ Such rows are rejected. Name its encoding (--encoding windows-1252, windows-1250, shift_jis
an old Mac's ▸ [in macintosh] Prénom,E-mail ⏎ 3× Hélène,p{n}@example.com ⏎ 3× François,q{n}@example.com ⏎ Gaëlle,r@example.com ▸ input_header --encoding macintosh ▸ , line 1: the header can't be read: the text is not valid in its encoding, and looks like macintosh: --encoding macintosh.
DOS ▸ [in cp850] Vorname,E-Mail ⏎ 3× Jürgen,p{n}@example.com ⏎ 3× Björn,q{n}@example.com ⏎ Käthe,r@example.com ▸ input_rejected --encoding cp850 ▸ is not all UTF-8, and its encoding can't be guessed. Such rows are rejected. It looks like cp850: add --encoding cp850. … 7 of the first 7 rows can't be read (most often invalid_encoding: the text is not valid in its encoding, and looks like cp850: --encoding cp850; line 2 of list.csv).
Japanese, named ▸ [--encoding shift_jis in cp932] 氏名,電話番号,国 ⏎ 6× 田中太郎,03-1234-567{n},日本 ▸ phone=電話番号 country=国 → +81312345670 +81312345671 +81312345672 … 6
an old Mac's, named ▸ [--encoding macintosh in macintosh] Prénom,E-mail ⏎ 6× Hélène,p{n}@example.com ▸ email=E-mail → p0@example.com p1@example.com p2@example.com … 6
Windows' Latin letters are read ▸ [in windows-1252] Vorname,E-Mail ⏎ 3× Jürgen,p{n}@example.com ⏎ 3× Björn,q{n}@example.com ⏎ Käthe,r@example.com ▸ email=E-Mail → p0@example.com p1@example.com p2@example.com … 7 ▸ is not UTF-8: it is read as windows-1252 and written as UTF-8. If letters look wrong, add --encoding.
one Spanish word, whose letters are Polish ones too ▸ [in windows-1252] name,email ⏎ 6× Peña,p{n}@example.com ▸ input_rejected ▸ Such rows are rejected. Name its encoding (--encoding windows-1252, windows-1250, shift_jis
UTF-16 with its mark ▸ [in utf-16] Name,E-Mail ⏎ 6× Zoë,p{n}@example.com ▸ email=E-Mail → p0@example.com p1@example.com p2@example.com … 6
UTF-16 without ▸ [in utf-16le] Name,E-Mail ⏎ 6× Zoe,p{n}@example.com ▸ input_binary ▸ is not a text file: it looks like a binary file, or utf-16le without a byte order mark. Export it as CSV, or name its encoding: --encoding utf-16le.
Hebrew, a short list ▸ [in windows-1255] שם,דוא"ל ⏎ 6× דוד כהן,p{n}@example.com ▸ input_header ▸ the header can't be read: the text is not valid in its encoding; name the right one (--encoding)
Hebrew, named ▸ [--encoding windows-1255 in windows-1255] שם,טלפון,ארץ ⏎ 6× דוד כהן,02-675333{n},ישראל ▸ phone=טלפון country=ארץ → +97226753330 +97226753331 +97226753332 … 6
Arabic ▸ [in windows-1256] name,email ⏎ 6× أحمد علي,p{n}@example.com ▸ input_rejected ▸ Such rows are rejected. Name its encoding (--encoding windows-1252, windows-1250, shift_jis
Thai ▸ [in windows-874] name,email ⏎ 6× สมชาย ใจดี,p{n}@example.com ▸ input_rejected ▸ Such rows are rejected. Name its encoding (--encoding windows-1252, windows-1250, shift_jis
Russian without capitals is not Hebrew ▸ [in windows-1251] имя,почта ⏎ 6× иван петров,p{n}@example.com ▸ input_header ▸ name the right one (--encoding)
a title in the list's own encoding ▸ [in windows-1252] Übersicht für Müller ⏎  ⏎ name,email ⏎ Jürgen,p@example.com ⏎ 3× Jo,q{n}@example.com ▸ email=email → p@example.com q0@example.com q1@example.com q2@example.com ▸ is read as windows-1252
the same with --skip-lines ▸ [--skip-lines 2 in windows-1252] Übersicht für Müller ⏎  ⏎ name,email ⏎ Jürgen,p@example.com ⏎ 3× Jo,q{n}@example.com ▸ email=email → p@example.com q0@example.com q1@example.com q2@example.com ▸ is read as windows-1252
Korean by one name ▸ [in euc-kr] name,email ⏎ 6× 김민수,p{n}@example.com ▸ input_rejected ▸ Such rows are rejected. Name its encoding (--encoding windows-1252, windows-1250, shift_jis
`;

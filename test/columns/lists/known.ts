/** Older cases: titles, missing headers, quotes, formats, wrappings. */
export const known = `
a title and a blank line above the header ▸ Customers of 2026 ⏎  ⏎ id,ip,email ⏎ 3× {n},192.0.2.{n},p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6 ▸ list.csv: the first 2 lines seem to be a title; line 3 looks like the header. It is read as with --skip-lines 2: the output begins with that line.
a title that a spreadsheet filled up ▸ Customers;; ⏎ id;ip;email ⏎ 3× {n};192.0.2.{n};p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6 ▸ list.csv: the first line seems to be a title; line 2 looks like the header. It is read as with --skip-lines 1: the output begins with that line.
a title, left out ▸ [--skip-lines 1] Customers;; ⏎ id;ip;email ⏎ 3× {n};192.0.2.{n};p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
Excel's line of its delimiter ▸ sep=| ⏎ ip|email ⏎ 3× 192.0.2.{n}|p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
carets ▸ ip^email ⏎ 3× 192.0.2.{n}^p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
one column ▸ email ⏎ 6× p{n}@example.com ▸ email=email → p0@example.com p1@example.com p2@example.com … 6
a quote that is not closed ▸ ip,name ⏎ 3× 192.0.2.{n},"x" ⏎ 198.51.100.7,"x ⏎ 3× 203.0.113.{n},"y" ▸ ip=ip → 192.0.2.0 192.0.2.1 192.0.2.2 … 6 | 1×unclosed_quote
quotes inside a field ▸ ip,name ⏎ 3× 192.0.2.{n},x ⏎ 198.51.100.7,6" pipe ⏎ 3× 203.0.113.{n},y ▸ ip=ip → 192.0.2.0 192.0.2.1 192.0.2.2 … 7
digits as ="…" ▸ [--default-country US] phone,n ⏎ 3× ="1202555010{n}",{n} ▸ phone=phone → +12025550100 +12025550101 +12025550102 | 3×+formula_text
a spreadsheet ▸ [@list.xlsx] PK\u0003\u0004 not really ▸ input_binary ▸ spreadsheet … Save or export it as CSV
an old spreadsheet's name, and CSV in it ▸ [@list.xls] ip,email ⏎ 3× 192.0.2.{n},p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
gzip ▸ [@list.csv.gz] ip,email ⏎ 3× 192.0.2.{n},p{n}@example.com ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
a JSON list ▸ [@list.json] [{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}] ▸ ip=ip → 192.0.2.1 192.0.2.2
a JSON list of values ▸ [@list.json] ["p@example.com","q@example.com"] ▸ input_header -o list.enriched.ndjson ▸ is a list of values, not of objects. Write an object on each line, such as {"value": …}.
rows in an object ▸ [@list.json] {"data":[{"ip":"192.0.2.1"},{"ip":"192.0.2.2"}]} ▸ no_columns -o list.enriched.ndjson ▸ list.json is one JSON object. Its rows seem to be in the property "data".
nested rows ▸ [@list.ndjson] 3× {"user":{"ip":"192.0.2.{n}","contact":{"email":"p{n}@example.com"}}} ▸ ip=user.ip email=user.contact.email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
pictures in headers ▸ 📧 E-Mail,🌍IP ⏎ 3× p{n}@example.com,192.0.2.{n} ▸ ip=🌍IP email=📧 E-Mail → 192.0.2.0 p0@example.com 192.0.2.1 … 6
the same header twice ▸ email,email ⏎ 3× p{n}@example.com,q{n}@example.com ▸ email=email email=email#2 → p0@example.com q0@example.com p1@example.com … 6
Name <address>, mailto:, a trailing semicolon ▸ email ⏎ Jo Doe <jo@example.com> ⏎ mailto:al@example.com ⏎ bo@example.com; ▸ email=email → jo@example.com al@example.com bo@example.com | 1×+display_name 1×+uri 1×+trailing_punctuation
what exports write for nothing ▸ email,ip ⏎ n/a,- ⏎ k.A.,NULL ⏎ \\N,unknown ⏎ 3× p{n}@example.com,192.0.2.{n} ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 6
most of a column is something else ▸ [--ip ip] ip ⏎ 20× host{n} ▸ column_invalid ▸ 20 of the first 20 values in column "ip" can't be IP addresses (most often: ip_malformed). Nothing was sent.
nothing to look up ▸ a,b ⏎ 3× x{n},y{n} ▸ no_columns ▸ No column looks like IP addresses, phone numbers or e-mail addresses. Name them with --ip, --phone or --email (columns: a, b).
a column whose name has =, without a prefix ▸ [--ip user=login] user=login ⏎ 3× 192.0.2.{n} ▸ unknown_column ▸ If you mean "user=login", add a prefix: user=login=PREFIX_.
a column that does not exist ▸ [--email e-mail] email ⏎ 3× p{n}@example.com ▸ unknown_column ▸ --email: there is no column "e-mail" (columns: email). Did you mean "email"?
the usual fault of a column is named, and not its rarest ▸ [--ip ip] ip ⏎ 3× 10.0.0.{n} ⏎ 17× host{n} ▸ column_invalid ▸ 20 of the first 20 values in column "ip" can't be IP addresses (most often: ip_malformed).
a few odd values in a column that is mostly empty stop no run ▸ [--ip ip] id,ip ⏎ 20× {n}, ⏎ 5× {n},host{n} ▸ ip=ip → | 5×ip_malformed ▸
many odd values stop it, however many cells are empty ▸ [--ip ip] id,ip ⏎ 20× {n}, ⏎ 25× {n},host{n} ▸ column_invalid ▸ 25 of the first 25 values in column "ip" can't be IP addresses (most often: ip_malformed).
a header that an export repeats at its top ▸ email,name ⏎ E-mail address,Full name ⏎ 7× p{n}@example.com,N{n} ▸ email=email → p0@example.com p1@example.com p2@example.com … 7 | 1×email_malformed ▸
a column's name in one cell of a row is no header of a second table ▸ name,email,phone ⏎ 6× N{n},p{n}@example.com,+1202555010{n} ⏎ Bo,E-mail,+12025550120 ⏎ 2× M{n},m{n}@example.com,+1202555013{n} ▸ phone=phone email=email → +12025550100 p0@example.com +12025550101 … 17 | 1×email_malformed ▸
one row that ends in a delimiter is a row ▸ ip,email ⏎ 6× 192.0.2.{n},p{n}@example.com ⏎ 192.0.2.9,q@example.com, ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 14 ▸
rows that each have a list of objects are not one object around the rows ▸ [@list.ndjson] 2× {"n":{n},"tags":[{"a":1}]} ▸ no_columns ▸ No column looks like
a header that looks like a number above a column of other things ▸ [--default-country DE] 030 1234567,x ⏎ 030 1234568,y ⏎ 8× n{n},z ▸ no_columns ▸ No column looks like
`;

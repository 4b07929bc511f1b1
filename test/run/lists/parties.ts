/** Columns of another party that no header gives away: their values are few, and another column's differ. */
export const parties = `
one value beside distinct ones ▸ Email,Contacto ⏎ 12× p{n}@example.com,ventas@example.org ▸ email=Email → p0@example.com p1@example.com p2@example.com … 12 ▸ "Contacto" (only one value in 12 rows, where other columns differ: they may be another party's); add --email Contacto.
a few agents' addresses ▸ mail,mail kam ⏎ 4× p{n}@example.com,a@example.org ⏎ 4× q{n}@example.com,b@example.org ⏎ 4× r{n}@example.com,c@example.org ▸ email=mail → p0@example.com p1@example.com p2@example.com … 12 ▸ Not looked up, though 100% of its values are e-mail addresses: "mail kam" (only 3 values in 12 rows
without a header ▸ [--no-header] 4× p{n}@example.com,a@example.org ⏎ 4× q{n}@example.com,b@example.org ▸ email=column_1 → p0@example.com p1@example.com p2@example.com … 8 ▸ "column_2" (only 2 values in 8 rows
few numbers in national form ask for no country ▸ Phone,Branch Tel ⏎ 8× +1202555010{n},0171 123456 ▸ phone=Phone → +12025550100 +12025550101 +12025550102 … 8 ▸ Branch Tel
addresses of a gate ▸ ip,via_ip ⏎ 8× 198.51.100.{n},203.0.113.7 ▸ ip=ip → 198.51.100.0 198.51.100.1 198.51.100.2 … 8 ▸ "via_ip" (only one value in 8 rows
a branch's number alone beside persons' addresses ▸ E-Mail,Tel ⏎ 12× p{n}@example.com,+12025550199 ▸ email=E-Mail → p0@example.com p1@example.com p2@example.com … 12 ▸ "Tel" (only one value in 12 rows
colleagues share a number ▸ E-Mail,Tel ⏎ 4× p{n}@example.com,+12025550198 ⏎ 4× q{n}@example.com,+12025550199 ▸ phone=Tel email=E-Mail → +12025550198 p0@example.com p1@example.com … 10
visits from one address ▸ ip,path ⏎ 30× 198.51.100.7,/{n} ▸ ip=ip → 198.51.100.7
a few visitors' addresses beside distinct mail ▸ ip,email ⏎ 12× 198.51.100.7,p{n}@example.com ⏎ 12× 198.51.100.8,q{n}@example.com ▸ ip=ip email=email → 198.51.100.7 p0@example.com p1@example.com … 26
a server's address beside distinct mail ▸ ip,email ⏎ 24× 203.0.113.7,p{n}@example.com ▸ email=email → p0@example.com p1@example.com p2@example.com … 24 ▸ "ip" (only one value in 24 rows
one person's visits ▸ email,ip ⏎ 24× p@example.com,198.51.100.{n} ▸ ip=ip email=email → 198.51.100.0 p@example.com 198.51.100.1 … 25
a short list says nothing ▸ email,email 2 ⏎ 4× p{n}@example.com,q@example.org ▸ email=email email=email 2 → p0@example.com q@example.org p1@example.com … 5
both are one value ▸ email,email 2 ⏎ 12× p@example.com,q@example.org ▸ email=email email=email 2 → p@example.com q@example.org
an order's lines, whose first one has the number ▸ Phone,Billing Phone ⏎ +12025550100,+12025550110 ⏎ 2× +12025550100, ⏎ +12025550101,+12025550111 ⏎ 2× +12025550101, ⏎ +12025550102,+12025550112 ⏎ 2× +12025550102, ▸ phone=Phone phone=Billing Phone → +12025550100 +12025550110 +12025550101 … 6
addresses of work and home ▸ Email,Email 2 ⏎ 8× p{n}@example.com,q{n}@example.org ▸ email=Email email=Email 2 → p0@example.com q0@example.org p1@example.com … 16
groups of columns above their names ▸ Employee,,Manager, ⏎ Name,Email,Name,Email ⏎ 6× Ada,p{n}@example.com,Bo,m{n}@example.org ▸ input_title --skip-lines 1 ▸ line 1 names groups of columns, and line 2 the columns. Read the header from there: --skip-lines 1. The columns keep their groups.
the same, with its header ▸ [--skip-lines 1] Attendee,,Manager, ⏎ Name,Email,Name,Email ⏎ 6× Ada,p{n}@example.com,Bo,m{n}@example.org ▸ email=Email → p0@example.com p1@example.com p2@example.com … 6 ▸ "Email#2" (its name means another party
groups that each column repeats ▸ Home;Home;Emergency contact;Emergency contact ⏎ Email;Phone;Name;Phone ⏎ 6× p{n}@example.com;+1202555010{n};Bo;+1202555011{n} ▸ input_title --skip-lines 1
the same, with its header ▸ [--skip-lines 1] Home;Home;Emergency contact;Emergency contact ⏎ Email;Phone;Name;Phone ⏎ 6× p{n}@example.com;+1202555010{n};Bo;+1202555011{n} ▸ phone=Phone email=Email → +12025550100 p0@example.com +12025550101 … 12 ▸ "Phone#2" (its name means another party
a title, and groups below it ▸ Staff as of 2026;;; ⏎ Home;;Manager; ⏎ Email;Phone;Name;Email ⏎ 6× p{n}@example.com;+1202555010{n};Bo;m{n}@example.org ▸ input_title --skip-lines 2 ▸ line 2 names groups of columns
groups below a title that is left out ▸ [--skip-lines 1] Staff as of 2026;;; ⏎ Home;;Manager; ⏎ Email;Phone;Name;Email ⏎ 6× p{n}@example.com;+1202555010{n};Bo;m{n}@example.org ▸ input_title --skip-lines 2
a title of staff is no group ▸ [--skip-lines 1] Employees;;; ⏎ Name;Email;Phone;City ⏎ 6× Ada;p{n}@example.com;+1202555010{n};Ulm ▸ phone=Phone email=Email → +12025550100 p0@example.com +12025550101 … 12
a column without a name, and a first row without values ▸ ,Name,Email ⏎ x,Ada,none ⏎ 6× x,Bo,p{n}@example.com ▸ email=Email → p0@example.com p1@example.com p2@example.com … 6
groups name the country of their numbers ▸ [--skip-lines 1] Home,,Work, ⏎ Phone,Country,Phone,Country ⏎ 6× 030 2312500{n},DE,020 7946 000{n},GB ▸ phone=Phone phone=Phone#2 country=Country country=Country#2 → +493023125000 +442079460000 +493023125001 … 12
an order's own number, which is empty, stops nothing ▸ Email,Billing Phone,Billing Country,Shipping Phone,Shipping Country,Phone ⏎ 6× p{n}@example.com,030 2312500{n},DE,020 7946 000{n},GB, ▸ phone=Billing Phone phone=Shipping Phone phone=Phone email=Email country=Billing Country country=Shipping Country → +493023125000 +442079460000 p0@example.com … 18
numbers of identity cards are no phone numbers ▸ Contact No.,Aadhaar No.,SSN ⏎ 6× +1202555010{n},9123 4567 890{n},202-55-010{n} ▸ phone=Contact No. → +12025550100 +12025550101 +12025550102 … 6
identity numbers in national form ▸ [--default-country IN] Contact No.,Aadhaar No. ⏎ 6× 011-2338644{n},9123 4567 890{n} ▸ phone=Contact No. → +911123386440 +911123386441 +911123386442 … 6
numbers without a country ▸ Email,Phone ⏎ 6× p{n}@example.com,030 2312500{n} ▸ column_unsure --default-country COUNTRY ▸ Add their country: --country COLUMN, or, if all are of one country, --default-country with that country, such as DE.
`;

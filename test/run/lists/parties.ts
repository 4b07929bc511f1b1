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
`;

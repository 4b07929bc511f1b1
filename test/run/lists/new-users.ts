/** Lists as three new users have them: masks, totals, states, and digits that lost their plus. */
export const newUsers = `
addresses masked with letters ▸ id,email ⏎ 6× {n},a{n}xxxxx@example.com ▸ column_unsure ▸ none of its values is one (row 1: email_masked
masks of any length, in the local part and in the domain ▸ email,note ⏎ 6× p{n}@example.com,x ⏎ xxxx12@xxxxx.com,x ⏎ fXXXXX@example.com,x ⏎ f_____@example.com,x ⏎ f####@example.com,x ⏎ jo@xxxxx.example.com,x ⏎ xxx@example.com,x ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 | 6×email_masked
letters and lines that mask nothing ▸ email ⏎ 3× maxx{n}@example.com ⏎ 3× a__b{n}@example.com ⏎ jo_@xxx.example.com ⏎ felix.xxxavier@example.com ▸ email=email → maxx0@example.com maxx1@example.com maxx2@example.com … 8
a masked column beside masked numbers is not offered ▸ ticket,customer_email,customer_phone ⏎ 6× {n},a{n}xxxxx@example.com,+44 7700 9xxxxx ▸ column_unsure ▸ Column "customer_email" is named like e-mail addresses, but none of its values is one (row 1: email_masked, parts of the address are masked, as in j***@example.com). Name the columns to look up with --ip, --phone or --email.
digests in place of addresses ▸ id,email,ip ⏎ 6× {n},5f4dcc3b5aa765d61d8327deb882cf9{n}@example.com,198.51.100.{n} ▸ ip=ip → 198.51.100.0 198.51.100.1 198.51.100.2 … 6 ▸ "email" (masked or anonymized)
addresses of few networks, all ending in zero ▸ email,ip ⏎ 3× p{n}@example.com,198.51.100.0 ⏎ 3× q{n}@example.com,192.0.2.0 ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ "ip" (masked or anonymized)
addresses masked in two ways ▸ email,ip ⏎ 3× p{n}@example.com,198.51.100.0 ⏎ 3× q{n}@example.com,198.51.100.xxx ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ "ip" (masked or anonymized)
a state's letters that are a country's, too ▸ Company,City,State,Phone,Email ⏎ 6× F{n},Dover,DE,302-555-010{n},p{n}@example.com ▸ column_unsure --default-country COUNTRY
languages ▸ Name;Sprache;Mobil ⏎ 3× Ada;DE;079000000{n} ⏎ 3× Bo;FR;079000100{n} ▸ column_unsure --default-country COUNTRY
cantons ▸ Name;Kanton;Mobil ⏎ 6× Ada;BE;0470 00 00 0{n} ▸ column_unsure --default-country COUNTRY
codes of countries under a longer name ▸ name,Organization - Country of Address,phone ⏎ 6× Ada,NL,061000000{n} ▸ column_unsure --country Organization - Country of Address
states under the name of a country ▸ Name,Country,Phone ⏎ 6× Ada,NY,(212) 555-010{n} ⏎ 6× Bo,DE,302-555-010{n} ⏎ 6× Cy,Georgia,706-555-010{n} ⏎ 6× Di,CA,310-555-010{n} ▸ column_unsure --default-country COUNTRY ▸ holds phone numbers in national form
the same letters in a list of countries ▸ Name,Country,Phone ⏎ 6× Ada,US,(212) 555-010{n} ⏎ 6× Bo,DE,030 2312500{n} ⏎ 6× Di,CA,310-555-010{n} ▸ phone=Phone country=Country → +12125550100 +12125550101 +12125550102 … 18
`;

/** Lists by people who had not seen the tool before: what was bought wrongly, or turned away. */
export const firstContact = `
versions of a program are no addresses ▸ user,app_version,email ⏎ 6× u{n},8.8.4.{n},p{n}@example.com ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ Not looked up, though 100% of its values are IP addresses: "app_version" (they may be versions, or masks); add --ip app_version.
versions alone ▸ user,build ⏎ 6× u{n},4.12.0.{n} ▸ column_unsure --ip build ▸ No column is looked up for sure.
a mask and an object's number ▸ oid,netmask,source ⏎ 6× 1.3.6.1,255.255.255.0,198.51.100.{n} ▸ ip=source → 198.51.100.0 198.51.100.1 198.51.100.2 … 6 ▸ "oid" (they may be versions, or masks) … "netmask" (they may be versions, or masks)
small addresses under their own name ▸ ip ⏎ 6× 8.8.4.{n} ▸ ip=ip → 8.8.4.0 8.8.4.1 8.8.4.2 … 6
a column that says yes or no stops nothing ▸ has_email,e_mail ⏎ 6× {n},p{n}@example.com ▸ email=e_mail → p0@example.com p1@example.com p2@example.com … 6
Facebook's lead ads ▸ email,phone_number ⏎ 6× p{n}@example.com,p:+1202555010{n} ▸ phone=phone_number email=email → +12025550100 p0@example.com +12025550101 … 12 | 6×+uri
several numbers in each cell ▸ email,phones ⏎ 6× p{n}@example.com,+1202555010{n} / +1202555011{n} ▸ column_unsure --email email ▸ Column "phones" is named like phone numbers, but none of its values is one (row 1: phone_list, several numbers in one cell). Name the columns to look up: --email email.
several addresses in each cell ▸ id,email ⏎ 6× {n},p{n}@example.com; q{n}@example.com ▸ column_unsure ▸ Column "email" is named like e-mail addresses, but none of its values is one (row 1: email_list, several addresses in one cell).
half of a column ▸ id,contact_phone ⏎ 3× {n},+1202555010{n} ⏎ 5× {n},call me ▸ column_unsure --phone contact_phone ▸ Column "contact_phone" is named like phone numbers, but only 38% of its values are (row 4: phone_malformed, no phone number: no digits, or words among them).
the header again, with a byte order mark of its own ▸ \ufeffemail,ip ⏎ 3× p{n}@example.com,192.0.2.{n} ⏎ \ufeffemail,ip ⏎ 3× q{n}@example.com,198.51.100.{n} ▸ ip=ip email=email → 192.0.2.0 p0@example.com 192.0.2.1 … 12 | 1×header_again
a column of the output's own name ▸ email_domain,email ⏎ 6× example.com,p{n}@example.com ▸ column_clash --email email=checked_ ▸ The output would have "email_domain" twice. Give what is added another prefix, such as --email email=checked_, or rename the input's column.
another delimiter than the one that is named ▸ [--delimiter ;] email,ip,phone ⏎ 6× p{n}@example.com,192.0.2.{n},+1202555010{n} ▸ input_header ▸ has one column with --delimiter ";", and 3 with ",". Leave --delimiter out.
a column of pictures, numbers and flags ▸ 🌍,📞,email ⏎ 6× 🇬🇧,020 7946 000{n},p{n}@example.com ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ "📞"; add --phone "📞" --country "🌍".
a flag on the wrong column ▸ [--ip email] email,ip ⏎ 3× p{n}@example.com,192.0.2.{n} ▸ ip=email → | 3×ip_malformed ▸ The values in column "email" can't be IP addresses (most often: ip_malformed). They are e-mail addresses: --email email.
the same with many rows ▸ [--ip email] email,ip ⏎ 20× p{n}@example.com,192.0.2.{n} ▸ column_invalid ▸ 20 of the first 20 values in column "email" can't be IP addresses (most often: ip_malformed). They are e-mail addresses: --email email. Nothing was sent.
a phone number of a relative, and of the row's person ▸ phone,spouse_phone ⏎ 6× +1202555010{n},+1202555011{n} ▸ phone=phone → +12025550100 +12025550101 +12025550102 … 6 ▸ "spouse_phone" (its name says another party than the row's person)
`;

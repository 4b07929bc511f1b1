/** Columns beside the person's own, which no list of words can hold; and values that only look like what is looked up. */
export const strangers = `
a word that is not known, beside a plain column ▸ Email,Accountant Email ⏎ 6× p{n}@example.com,q{n}@example.org ▸ email=Email → p0@example.com p1@example.com p2@example.com … 6 ▸ "Accountant Email" (its name may mean another party than the person); add --email 'Accountant Email'.
the same behind its kind ▸ Mail,Mail conjoint ⏎ 6× p{n}@example.com,q{n}@example.org ▸ email=Mail → p0@example.com p1@example.com p2@example.com … 6 ▸ "Mail conjoint" (its name may mean
in a compound ▸ Handy;Hausmeisterhandy;Land ⏎ 6× 0171 392000{n};0171 392001{n};DE ▸ phone=Handy country=Land → +491713920000 +491713920001 +491713920002 … 6 ▸ "Hausmeisterhandy" (its name may mean
of a script without blanks ▸ 電話番号,保護者携帯,国 ⏎ 6× 03-1234-567{n},090-1234-567{n},日本 ▸ phone=電話番号 country=国 → +81312345670 +81312345671 +81312345672 … 6 ▸ "保護者携帯" (its name may mean
a script whose vowels are marks ▸ मोबाइल नंबर,पिता का मोबाइल,देश ⏎ 6× 98765 4321{n},98765 4322{n},IN ▸ phone=मोबाइल नंबर country=देश → +919876543210 +919876543211 +919876543212 … 6 ▸ "पिता का मोबाइल" (its name may mean
a question about another person ▸ What is your e-mail address?,Who referred you? Their e-mail: ⏎ 6× p{n}@example.com,q{n}@example.org ▸ email=What is your e-mail address? → p0@example.com p1@example.com p2@example.com … 6 ▸ "Who referred you? Their e-mail:" (its name may mean
a friend's ▸ email,friend's_email ⏎ 6× p{n}@example.com,q{n}@example.org ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ "friend's_email" (its name may mean
an assistant's, in Zoho's words ▸ Phone,Home Phone,Other Phone,Asst Phone ⏎ 6× +1202555010{n},+1202555011{n},+1202555012{n},+1202555013{n} ▸ phone=Phone phone=Home Phone phone=Other Phone → +12025550100 +12025550110 +12025550120 … 18 ▸ "Asst Phone" (its name means another party
the only one, under a word that is not known ▸ name,Fan e-mail ⏎ 6× Ada,p{n}@example.com ▸ email=Fan e-mail → p0@example.com p1@example.com p2@example.com … 6
the only one, its word behind it ▸ Name,Courriel fan ⏎ 6× Ada,p{n}@example.com ▸ email=Courriel fan → p0@example.com p1@example.com p2@example.com … 6
two such, and none that is plain ▸ Bride e-mail,Groom e-mail ⏎ 6× p{n}@example.com,q{n}@example.org ▸ column_unsure --email Bride e-mail --email Groom e-mail ▸ "Bride e-mail" (its name may mean another party than the person); add --email 'Bride e-mail'. … "Groom e-mail"
two such beside another kind ▸ ip,Bride e-mail,Groom e-mail ⏎ 6× 198.51.100.{n},p{n}@example.com,q{n}@example.org ▸ ip=ip → 198.51.100.0 198.51.100.1 198.51.100.2 … 6 ▸ "Bride e-mail" (its name may
the only one, with few values ▸ name,Till IP ⏎ 10× Ada,203.0.113.7 ⏎ 10× Bo,203.0.113.8 ▸ column_unsure ▸ "Till IP" (only 2 values in 20 rows
the pupil beside the parents ▸ Courriel élève;Courriel père;Courriel mère ⏎ 6× p{n}@example.com;q{n}@example.org;r{n}@example.org ▸ email=Courriel élève → p0@example.com p1@example.com p2@example.com … 6 ▸ "Courriel père" … "Courriel mère"
a user name that is an address, beside an actor's ▸ [@log.ndjson] 6× {"ip":"198.51.100.{n}","user_name":"p{n}@example.com","details":{"actor_email":"ops@example.org"}} ▸ ip=ip email=user_name → 198.51.100.0 p0@example.com 198.51.100.1 … 12 ▸ "details.actor_email"
numbers of messages ▸ Message-ID,From e-mail ⏎ 6× <20260307{n}.70973@mx.example.com>,p{n}@example.com ▸ email=From e-mail → p0@example.com p1@example.com p2@example.com … 6 ▸ "Message-ID" (they may be identifiers, or accounts of machines)
numbers of meetings alone ▸ UID,Summary ⏎ 6× 867867160455698{n}@calendar.example.com,Meeting ▸ column_unsure ▸ "UID" (they may be identifiers, or accounts of machines)
one account on many machines ▸ host,remote ⏎ 6× h{n},git@git{n}.example.com ▸ column_unsure ▸ "remote" (they may be identifiers
pictures ▸ name,Avatar ⏎ 6× Ada,avatar_{n}@2x.png ▸ column_unsure ▸ "Avatar" (they may be identifiers
addresses under a name that says nothing, beside a header that does ▸ e-mail,XMPP ⏎ 6× p{n}@example.com,q{n}@example.org ▸ email=e-mail → p0@example.com p1@example.com p2@example.com … 6 ▸ "XMPP"; add --email XMPP.
the same in a list without such a header ▸ name,XMPP ⏎ 6× Ada,p{n}@example.com ▸ email=XMPP → p0@example.com p1@example.com p2@example.com … 6
two of them without a header ▸ [--no-header] 6× p{n}@example.com,q{n}@example.org ▸ column_unsure --email column_1 --email column_2
numbers with their plus beside a header that says so ▸ Phone,Response 1 ⏎ 6× +1202555010{n},+1202555011{n} ▸ phone=Phone → +12025550100 +12025550101 +12025550102 … 6 ▸ "Response 1"; add --phone 'Response 1'.
versions with large parts ▸ commit,release ⏎ 6× c{n},120.0.6{n}.129 ▸ column_unsure ▸ "release" (they may be versions, or masks)
versions under their name beside addresses ▸ src_ip,rule_version ⏎ 6× 198.51.100.{n},5.1.12.10{n} ▸ ip=src_ip → 198.51.100.0 198.51.100.1 198.51.100.2 … 6
a firmware whose parts are large ▸ Device,Firmware ⏎ 6× cam{n},151.62.70.13{n} ▸ column_unsure ▸ "Firmware" (they may be versions
masked addresses ▸ email,signup_ip ⏎ 6× f****{n}@example.com,198.51.100.{n} ▸ column_unsure --ip signup_ip ▸ none of its values is one (row 1: email_masked
anonymized by its name ▸ email,ip_anonymized ⏎ 6× p{n}@example.com,198.51.10{n}.7 ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ "ip_anonymized" (masked or anonymized)
anonymized by its values ▸ email,ip ⏎ 6× p{n}@example.com,198.51.10{n}.0 ▸ email=email → p0@example.com p1@example.com p2@example.com … 6 ▸ "ip" (masked or anonymized)
Italian numbers that lost their zeros ▸ Cliente;Telefono;Paese ⏎ 3× x;28907671{n};IT ⏎ 3× x;33119194{n};IT ⏎ 8× x;347123456{n};IT ▸ phone=Telefono country=Paese → +393471234560 +393471234561 +393471234562 … 8 | 6×leading_zero_lost
a second number's end behind the first ▸ [--default-country DE] Telefon ⏎ 4× 030 2312500{n} ⏎ 030 23125001 / 002 ⏎ 030 23125018 (12) ▸ phone=Telefon → +493023125000 +493023125001 +493023125002 +493023125003 | 1×phone_list 1×phone_in_text
multicast and reserved addresses ▸ User IP ⏎ 4× 198.51.100.{n} ⏎ 224.0.0.251 ⏎ 240.0.0.1 ▸ ip=User IP → 198.51.100.0 198.51.100.1 198.51.100.2 198.51.100.3 | 2×ip_private
an extension under Active Directory's name ▸ mail,ipPhone ⏎ 6× p{n}@example.com,412{n} ▸ email=mail → p0@example.com p1@example.com p2@example.com … 6 ▸ "ipPhone" (its name
groups with gaps above a header with one ▸ Nr,Koper,,,Makelaar,, ⏎ ,Naam,Telefoon,E-mail,Naam,Telefoon,E-mail ⏎ 6× {n},Ada,+3120555100{n},p{n}@example.com,Bo,+3120555200{n},m{n}@example.org ▸ phone=Telefoon email=E-mail → +31205551000 p0@example.com +31205551001 … 12 ▸ line 1 names groups of columns
a title of three lines, with a person to ask ▸ Summer party,,,, ⏎ As of 12.03.2026,,,Contact: +4930231259, ⏎ ,,,, ⏎ No,Name,Phone,Mail,Note ⏎ 6× {n},Ada,+1202555010{n},p{n}@example.com,x ▸ phone=Phone email=Mail → +12025550100 p0@example.com +12025550101 … 12
a second table below the first ▸ Customer,E-mail,Phone ⏎ 6× Ada,p{n}@example.com,+1202555010{n} ⏎ ,, ⏎ Supplier,Contact mail,Supplier phone ⏎ 3× Bo,s{n}@example.org,+1202555011{n} ▸ input_header ▸ Row 8 seems to be the header of a second table ("Supplier phone", "Contact mail").
numbers with their calling code, without a plus or a country ▸ EMAIL;SMS ⏎ 6× p{n}@example.com;3361234482{n} ▸ email=EMAIL → p0@example.com p1@example.com p2@example.com … 6 ▸ Not looked up, though 100% of its values are phone numbers: "SMS"; add --phone SMS, and --country or --default-country.
columns beside a flag ▸ [--email Email] Email,Owner Phone,Accountant Email ⏎ 6× p{n}@example.com,+1202555010{n},q{n}@example.org ▸ email=Email → p0@example.com p1@example.com p2@example.com … 6 ▸ "Owner Phone" (its name means … "Accountant Email" (its name may
numbers that need no country between two of them ▸ Billing Country,Billing Phone,Shipping Country,Shipping Phone,Phone ⏎ 3× DE,030 2312500{n},DE,030 2312500{n},+4930 2312501{n} ⏎ 3× DE,030 2312502{n},AT,01 534010{n},+4930 2312503{n} ▸ phone=Billing Phone phone=Shipping Phone phone=Phone country=Billing Country country=Shipping Country → +493023125000 +493023125010 +493023125001 … 15
an emergency's number ▸ [--default-country US] Email,"In case of emergency, number to call" ⏎ 6× p{n}@example.com,(202) 555-010{n} ▸ email=Email → p0@example.com p1@example.com p2@example.com … 6 ▸ "In case of emergency, number to call" (its name means
numbers of other countries that lost their plus are not read as national ones ▸ [--phone n --default-country DE] n ⏎ 6× 44207946000{n} ▸ phone=n → | 6×calling_code_unclear
`;

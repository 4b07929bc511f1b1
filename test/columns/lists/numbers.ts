/** Phone numbers as lists have them. */
export const numbers = `
ten German numbers whose plus a spreadsheet took ▸ Telefon;Land ⏎ 10× 49171392000{n};DE ▸ phone=Telefon country=Land → +491713920000 +491713920001 +491713920002 … 10 | 10×+plus_added
the same with blanks, and as a program's numbers ▸ Telefon;Land ⏎ 5× 49 171 392000{n};DE ⏎ 5× 49171392001{n}.0;DE ▸ phone=Telefon country=Land → +491713920000 +491713920001 +491713920002 … 10 | 10×+plus_added 5×+decimal_zero
Indonesian ones ▸ phone,country ⏎ 6× 62812345678,ID ▸ phone=phone country=country → +62812345678 | 6×+plus_added
Kosovar ones ▸ phone,country ⏎ 6× 38343201234,XK ▸ phone=phone country=country → +38343201234 | 6×+plus_added
a few of them can't show how the column is written ▸ phone,country ⏎ 3× 49171392000{n},DE ▸ phone=phone country=country → | 3×calling_code_unclear
half of the column without its calling code ▸ phone,country ⏎ 5× 49171392000{n},DE ⏎ 5× 171392001{n},DE ▸ phone=phone country=country → +491713920010 +491713920011 +491713920012 … 5 | 5×calling_code_unclear
one among national ones with their zero, which it would have too ▸ phone,country ⏎ 9× 0171 392000{n},DE ⏎ 491713920009,DE ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 9 | 1×calling_code_unclear
one among national ones without their zero ▸ phone,country ⏎ 9× 171392000{n},DE ⏎ 491713920009,DE ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 9 | 1×calling_code_unclear
with their plus nothing is in doubt ▸ phone,country ⏎ 6× +49171392000{n},DE ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 6
the default country's calling code, and neighbours' among them ▸ [--default-country DE] phone,x ⏎ 8× 49171392000{n},1 ⏎ 436641234567,1 ⏎ 41446681800,1 ▸ phone=phone → +491713920000 +491713920001 +491713920002 … 10 | 10×+plus_added
calling codes in the country column ▸ phone,country ⏎ 6× 49171392000{n},+49 ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 6 | 6×+plus_added
Rome without its plus, and mobiles that begin alike ▸ phone,country ⏎ 390612345678,IT ⏎ 3906123456,IT ⏎ 3931234567,IT ⏎ 393123456789,IT ▸ phone=phone country=country → +390612345678 +393931234567 +393123456789 | 1×calling_code_unclear
Indian mobiles that begin with 91 ▸ phone,country ⏎ 6× 919876543{n},IN ▸ phone=phone country=country → +919198765430 +919198765431 +919198765432 … 6
US numbers with and without their 1 ▸ phone,country ⏎ 5× 1202555010{n},US ⏎ 5× 202555010{n},US ▸ phone=phone country=country → +12025550100 +12025550101 +12025550102 … 5
digits under a header that means their calling code, where a country is known ▸ [--default-country DE] msisdn,op ⏎ 12125550100,x ⏎ 442079460101,x ⏎ 493023012103,x ⏎ 331990000100,x ▸ phone=msisdn → +12125550100 +442079460101 +493023012103 | 2×+plus_added 1×calling_code_unclear
and where none is ▸ msisdn,op ⏎ 12125550100,x ⏎ 442079460101,x ⏎ 493023012103,x ⏎ 331990000100,x ▸ phone=msisdn → +12125550100 +442079460101 +493023012103 | 3×+plus_added 1×calling_code_unclear
three whose plus is lost, under a country in which they are valid too ▸ phone,country ⏎ 447700900123,Germany ⏎ 33639980011,Germany ⏎ 447700900125,Germany ▸ phone=phone country=country → | 3×calling_code_unclear
a default of + goes before no country of a row ▸ [--default-country +] phone,country ⏎ 447700900123,Germany ⏎ 12025550123,Germany ⏎ 33639980011, ⏎ 030 23125001,Germany ▸ phone=phone country=country → +12025550123 +33639980011 +493023125001 | 1×calling_code_unclear 2×+plus_added
two among national ones, of which one lost its zero ▸ phone,country ⏎ 5× 030 2312500{n},DE ⏎ 1713920012,DE ⏎ 447700900123,DE ⏎ 33639980011,DE ▸ phone=phone country=country → +493023125000 +493023125001 +493023125002 … 6 | 2×calling_code_unclear
several calling codes without a plus ▸ name,phone ⏎ A,447700900123 ⏎ B,12025550110 ⏎ C,33639980011 ⏎ D,61491570006 ▸ phone=phone → +447700900123 +12025550110 +33639980011 +61491570006 | 4×+plus_added
one of them ▸ name,phone ⏎ A,447700900123 ▸ column_unsure --default-country COUNTRY
a number and its range ▸ phone,country ⏎ 3× +1202555011{n},US ⏎ 030 23125011-15,DE ▸ phone=phone country=country → +12025550110 +12025550111 +12025550112 | 1×phone_list
00 is a plus everywhere ▸ [--default-country US] phone ⏎ 3× 0044207946091{n} ▸ phone=phone → +442079460910 +442079460911 +442079460912
and without a country ▸ id,"Mobile number␤(with country code)",mail ⏎ 1,00442079460910,p@example.com ▸ phone=Mobile number␤(with country code) email=mail → +442079460910 p@example.com
a zero in brackets where no trunk zero is ▸ phone ⏎ +48 (0)512 345 678 ⏎ +39 (0)347 123 4567 ⏎ +39 (0)2 1234 5678 ⏎ +420 (0)601 123 456 ⏎ +44 (0)20 7946 0958 ▸ phone=phone → +48512345678 +393471234567 +390212345678 … 5
links and Mexico's old 1 ▸ phone ⏎ whatsapp:+442079460958 ⏎ sms:+442079460957 ⏎ +52 1 55 1234 5678 ▸ phone=phone → +442079460958 +442079460957 +525512345678 | 2×+uri
full-width digits without a country ▸ 氏名,電話番号 ⏎ 2× x,０９０-１２３４-５６１{n} ▸ column_unsure --default-country COUNTRY ▸ holds phone numbers in national form (100% of its values)
an address in two spellings is one ▸ email ⏎ jo＠example．com ⏎ jo @ example.com ⏎ jo@example.com ▸ email=email → jo@example.com | 2×+folded
addresses as numbers ▸ ip ⏎ 192.0.2.1 ⏎ 3221225985 ▸ ip=ip → 192.0.2.1 | 1×ip_number
`;

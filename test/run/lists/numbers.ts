/** Phone numbers as lists have them. */
export const numbers = `
ten German numbers whose plus a spreadsheet took ▸ Telefon;Land ⏎ 10× 49171392000{n};DE ▸ phone=Telefon country=Land → +491713920000 +491713920001 +491713920002 … 10 | 10×+plus_added
the same with blanks, and as a program's numbers ▸ Telefon;Land ⏎ 5× 49 171 392000{n};DE ⏎ 5× 49171392001{n}.0;DE ▸ phone=Telefon country=Land → +491713920000 +491713920001 +491713920002 … 10 | 10×+plus_added 5×+decimal_zero
Indonesian ones ▸ phone,country ⏎ 6× 62812345678,ID ▸ phone=phone country=country → +62812345678 | 6×+plus_added
Kosovar ones ▸ phone,country ⏎ 6× 38343201234,XK ▸ phone=phone country=country → +38343201234 | 6×+plus_added
a few of them can't show how the column is written ▸ phone,country ⏎ 3× 49171392000{n},DE ▸ phone=phone country=country → | 3×calling_code_unclear
half of the column without its calling code ▸ phone,country ⏎ 5× 49171392000{n},DE ⏎ 5× 171392001{n},DE ▸ phone=phone country=country → +491713920010 +491713920011 +491713920012 … 5 | 5×calling_code_unclear
one among national ones with their zero, which it would have too ▸ phone,country ⏎ 9× 0171 392000{n},DE ⏎ 491713920009,DE ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 10 | 1×+plus_added
one among national ones without their zero ▸ phone,country ⏎ 9× 171392000{n},DE ⏎ 491713920009,DE ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 9 | 1×calling_code_unclear
with their plus nothing is in doubt ▸ phone,country ⏎ 6× +49171392000{n},DE ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 6
the default country's calling code, and neighbours' among them ▸ [--default-country DE] phone,x ⏎ 8× 49171392000{n},1 ⏎ 436641234567,1 ⏎ 41446681800,1 ▸ phone=phone → +491713920000 +491713920001 +491713920002 … 8 | 8×+plus_added 2×calling_code_unclear
calling codes in the country column ▸ phone,country ⏎ 6× 49171392000{n},+49 ▸ phone=phone country=country → +491713920000 +491713920001 +491713920002 … 6 | 6×+plus_added
Rome without its plus, and mobiles that begin alike ▸ phone,country ⏎ 390612345678,IT ⏎ 3906123456,IT ⏎ 3931234567,IT ⏎ 393123456789,IT ▸ phone=phone country=country → +390612345678 +393931234567 +393123456789 | 1×calling_code_unclear
Indian mobiles that begin with 91 ▸ phone,country ⏎ 6× 919876543{n},IN ▸ phone=phone country=country → +919198765430 +919198765431 +919198765432 … 6
US numbers with and without their 1 ▸ phone,country ⏎ 5× 1202555010{n},US ⏎ 5× 202555010{n},US ▸ phone=phone country=country → +12025550100 +12025550101 +12025550102 … 5
`;

/** Where phone numbers in national form belong. */
export const countries = `
Birth Country before Country: the exact name ▸ Phone,Birth Country,Country ⏎ 6× 030 2312500{n},France,Germany ▸ phone=Phone country=Country → +493023125000 +493023125001 +493023125002 … 6
HubSpot's IP Country before Country/Region ▸ Phone Number,IP Country,Country/Region ⏎ 6× 030 2312500{n},United States,Germany ▸ phone=Phone Number country=Country/Region → +493023125000 +493023125001 +493023125002 … 6
Stripe's Card Issue Country before Shipping Address Country ▸ Customer Phone,Card Issue Country,Shipping Address Country ⏎ 6× 030 2312500{n},US,DE ▸ phone=Customer Phone country=Shipping Address Country → +493023125000 +493023125001 +493023125002 … 6
IP Country alone is no country of phone numbers ▸ Phone Number,IP Country ⏎ 6× 030 2312500{n},Germany ▸ column_unsure --default-country COUNTRY ▸ holds phone numbers in national form
Business Country/Region ▸ Business Phone,Business Country/Region ⏎ 6× 030 2312500{n},Germany ▸ phone=Business Phone country=Business Country/Region → +493023125000 +493023125001 +493023125002 … 6
Nazione ▸ Cellulare,Nazione ⏎ 6× 312 345 678{n},Italia ▸ phone=Cellulare country=Nazione → +393123456780 +393123456781 +393123456782 … 6
CTRY_CD ▸ PHONE_NBR,CTRY_CD ⏎ 6× 202555010{n},US ▸ phone=PHONE_NBR country=CTRY_CD → +12025550100 +12025550101 +12025550102 … 6
flags ▸ phone,country ⏎ 6× 030 2312500{n},🇩🇪 ▸ phone=phone country=country → +493023125000 +493023125001 +493023125002 … 6
the letter on a car ▸ phone,country ⏎ 6× 030 2312500{n},D ▸ phone=phone country=country → +493023125000 +493023125001 +493023125002 … 6
a code of sports ▸ phone,country ⏎ 6× 030 2312500{n},GER ▸ phone=phone country=country → +493023125000 +493023125001 +493023125002 … 6
two columns that make different numbers of one ▸ Phone,Billing Country,Shipping Country ⏎ 5× 030 2312500{n},DE,DE ⏎ 0664 1234567,DE,AT ▸ column_unsure --phone Phone --country Billing Country ▸ The countries in "Billing Country" and "Shipping Country" make different numbers of one phone number (row 6). Say which column says where the numbers belong: --country COLUMN.
two columns that agree where it matters ▸ Phone,Billing Country,Shipping Country ⏎ 5× 030 2312500{n},DE,DE ⏎ +12025550100,DE,AT ⏎ 030 23125009,DE, ▸ phone=Phone country=Billing Country → +493023125000 +493023125001 +493023125002 … 7
the one with which the numbers are valid ▸ Phone,Billing Country,Shipping Country ⏎ 6× 030 2312500{n},US,DE ▸ phone=Phone country=Shipping Country → +493023125000 +493023125001 +493023125002 … 6
an exact name with which they are not ▸ Phone,Country,Shipping Country ⏎ 6× 030 2312500{n},US,DE ▸ column_unsure --phone Phone --country Shipping Country ▸ Several columns name countries, and with the one whose name is nearest most of the phone numbers are not valid: "Shipping Country" and "Country". Say which column says where the numbers belong: --country COLUMN.
the phone's own country before an exact name ▸ Phone,Country,Phone Country ⏎ 6× 030 2312500{n},US,DE ▸ phone=Phone country=Phone Country → +493023125000 +493023125001 +493023125002 … 6
with their plus, numbers need no country ▸ Phone,Billing Country,Shipping Country ⏎ 6× +4930 2312500{n},US,DE ▸ phone=Phone country=Billing Country → +493023125000 +493023125001 +493023125002 … 6
a default country does not settle it ▸ [--default-country DE] Phone,Billing Country,Shipping Country ⏎ 5× 030 2312500{n},DE,DE ⏎ 0664 1234567,DE,AT ▸ column_unsure --phone Phone --country Billing Country ▸ The countries in "Billing Country" and "Shipping Country" make different numbers of one phone number (row 6). Say which column says where the numbers belong: --country COLUMN.
a country that is named goes before all ▸ [--phone Phone --country Shipping Country] Phone,Country,Shipping Country ⏎ 6× 030 2312500{n},US,DE ▸ phone=Phone country=Shipping Country → +493023125000 +493023125001 +493023125002 … 6
a list of countries by name, code and calling code ▸ phone,country ⏎ 030 23125001,Germany ⏎ 030 23125002,Deutschland ⏎ 030 23125003,DEU ⏎ 020 7946 0958,UK ⏎ 030 23125004,+49 ▸ phone=phone country=country → +493023125001 +493023125002 +493023125003 … 5
a misspelt country ▸ phone,country ⏎ 6× 030 2312500{n},Germany ⏎ 030 23125009,Germanny ▸ phone=phone country=country → +493023125000 +493023125001 +493023125002 … 6 | 1×country_unknown ▸ "country" holds "Germanny" (row 7); expected a name or code such as DE (is "Germany" meant?). Phone numbers in national form are not asked about there.
nested: the address before the card ▸ [@list.ndjson] 6× {"phone":"030 2312500{n}","card":{"country":"US"},"address":{"country":"DE"}} ▸ phone=phone country=address.country → +493023125000 +493023125001 +493023125002 … 6
`;

import {readFileSync} from 'node:fs';
import {expect, test} from 'vitest';
import {hasHeaderWord, namesSomeoneElse, readHeaderKinds} from '../../src/columns/recognize/header.ts';
import {tokenize} from '../../src/columns/recognize/vocabulary.ts';
import headerWords from '../../src/columns/recognize/words.json' with {type: 'json'};

/** `phone`, `phone?` for a hint; several by blanks. */
const says = (header: string) =>
  [...readHeaderKinds(header)]
    .filter(([, {strength}]) => strength !== 'mentioned')
    .map(([kind, {strength}]) => (strength === 'named' ? kind : `${kind}?`))
    .join(' ');

/** Headers of a text, between bars or on lines of their own. */
const headers = (text: string) => text.split(/[|\n]/).map(header => header.trim());

/** Headers that name a kind, in all languages. */
const named = {
  phone: `PHONE_NBR | Phone 1 - Value | Phone (mobile) | phoneNumber | phonenumber2 | Contact No. | MobilePhone | Home Phone | Phone # | tel_no
    Telefonnummer | Telefon privat | Mobil-Nr. | Handy 2 | Telefonnr
    Téléphone | Tél. portable | N° de téléphone | Numéro de téléphone | Téléphone professionnel
    Teléfono móvil | Número de celular | Telefone celular | Telemóvel | Numero di cellulare | Telefoonnummer | Mobiele telefoon
    Mobilnummer | Tlf. nr | Puhelinnumero | Numer telefonu | Telefon komórkowy | nr tel. | Telefonní číslo | Telefónne číslo
    Telefonska številka | Broj telefona | Број телефона | Telefonszám | Număr de telefon | Телефонен номер | Τηλέφωνο | Κινητό τηλέφωνο
    Cep Telefonu | TELEFON NUMARASI | Telefon No | Телефон | Номер телефона | моб. телефон | Телефон (рабочий) | Номер телефону
    Telefono numeris | Tālruņa numurs | Telefoninumber | Telèfon | Nomor Telepon | No. HP | Số điện thoại | SĐT
    رقم الهاتف | الجوال | טלפון נייד | شماره تلفن | मोबाइल नंबर | เบอร์โทรศัพท์
    电话 | 手机号码 | 联系电话 | 電話番号 | 携帯電話番号 | お客様電話番号 | 전화번호 | 휴대폰 번호
    phone | Phone Number | mobile | Mobile No | tel | Telefon | cell | msisdn | phone_1 | contact-phone | Handy-Nr | Número de teléfono
    telefoonnummer`,
  email: `E-mail 1 - Value | Email Address | userEmail | EMAIL_ADDR | E-Mail-Adresse | Kunden-Mailadresse | Adresse e-mail | Courriel | Correo electrónico
    Dirección de correo electrónico | Correio eletrônico | Endereço de e-mail | Indirizzo mail | Posta elettronica | E-mailadres | E-postadress | Mailadresse
    Sähköposti | Adres e-mail | Poczta elektroniczna | E-mailová adresa | E-naslov | Имејл | E-mail cím | Adresă de email | Имейл адрес | Ηλεκτρονικό ταχυδρομείο
    E-posta adresi | ЭЛ. ПОЧТА | Электронная почта | Адрес электронной почты | Електронна пошта | El. paštas | E-pasts | E-post | Correu electrònic | Surel | Địa chỉ email
    البريد الإلكتروني | דואר אלקטרוני | ایمیل | ईमेल | อีเมล | 邮箱 | 电子邮件地址 | メールアドレス | Eメール | 이메일 주소
    email | E-Mail | e_mail | eMail | mail | email2 | billing.email | emails.0 | e-mailadres | correo electrónico`,
  country: `Country/Region | Country or Region | Business Country/Region | CTRY_CD | country_code | countryCode | Shipping Address Country | ISO2 | Land | Land/Region | Ländercode
    Pays | Pays/Région | País/Región | País | Nazione | Paese | Kraj | Země | Krajina | Država | Држава | Ország | Țară | Страна | Χώρα | ÜLKE | Країна | Šalis | Valsts | Riik
    Negara | Quốc gia | الدولة | מדינה | کشور | देश | ประเทศ | 国家/地区 | 國家 | 国 | 国/地域 | 국가 | Country of residence`,
  ip: `IP | signupIp | IPAddress | clientIP | ip_v4 | IPv4 | Adresse IP | IP-адрес | IP地址 | IPアドレス | IP 주소
    عنوان IP | X-Forwarded-For | remote_addr | OPTIN_IP
    ip | ip | IP Address | ip_address | ipAddress | signup_ip | Signup IP | last-login-ip | ip.v4 | user.ip | ip_2 | IP-Adresse | adresse_ip
    dirección IP | IP 1 | x_forwarded_for | 📍IP | IP 🌍`,
};

test.each(Object.entries(named).flatMap(([kind, names]) => headers(names).map(name => [name, kind])))(
  '%j names its kind: %s',
  (name = '', kind) => expect(says(name)).toBe(kind),
);

test.each([
  // Ambiguous words need values that confirm them.
  ['GSM', 'phone?'],
  ['CEP', 'phone?'],
  ['HP', 'phone?'],
  ['Poczta', 'email?'],
  ['Portable', 'phone?'],
  ['useremail', 'email?'],
  ['billingcountry', 'country?'],
  ['smartphone', 'phone?'],
  ['Kundentelefonnummer', 'phone?'],
  ['Téléphone du client', 'phone?'],
  ['Correo del cliente', 'email?'],
  // Something about such a value is none.
  ['phone_type', ''],
  ['Phone 1 - Label', ''],
  ['phone_verified_at', ''],
  ['Email opt-in', ''],
  ['email_hash', ''],
  ['IP Country', 'country'],
  ['Phone Country', 'country'],
  ['Country of birth', ''],
  ['mobile_carrier', ''],
  ...'zip|trip|shipping|telling|cellar|emailed|mailbox_size|recipient|Adresse|Nummer'
    .split('|')
    .map(name => [name, '']),
  ['Bundesland', 'country?'],
  ['', ''],
])('%j says %j', (header, expected) => expect(says(header)).toBe(expected));

test.each([
  ...headers(`Lead Owner Email | support_phone | server_ip | agent | created_by | CreatedBy.Email | referrer | Reply-To
    Leadbesitzer E-Mail | E-mail du commercial | Correo del vendedor | Email właściciela | Телефон менеджера | 业务员电话`).map(
    header => [header, true] as const,
  ),
  ...headers('Email | Business Phone | client_ip | Contact Email | Requester email').map(
    header => [header, false] as const,
  ),
])('%j names another party: %j', (header, expected) => expect(namesSomeoneElse(header)).toBe(expected));

test.each([
  ['order_no', true],
  ['Kundennummer', true],
  ['PLZ', true],
  ['郵便番号', true],
  ['nr', false],
  ['Kontakt', false],
])('%j names other digits: %j', (header, expected) =>
  expect(hasHeaderWord(header, 'otherDigits')).toBe(expected),
);

test.each(
  headers(`Email | Email 2 | Billing Email | Customer's e-mail | What is your e-mail address? | E-Mail (Pflichtfeld) | Your e-mail * | user.email | E-mail 1 - Value | Courriel élève
  Correo alumno | Adresse e-mail du client | Email клиента | E-posta Adresi | お客様メールアドレス | 用户邮箱 | 고객 이메일 | ग्राहक ईमेल
  Default Address Phone | Phone 2 - Value | Business Phone | Kundentelefonnummer | Handynr. | Tel. privat | Телефон клиента | Téléphone du client | お客様電話番号 | 고객 휴대폰번호
  OPTIN_IP | last_sign_in_ip | LASTLOGINIP | client.ipAddress | customer_ip_address | http_x_forwarded_for | X-Real-IP | Browser IP | details.request.ip | custom:signup_ip`),
)('%s is plainly the person', header => expect([...readHeaderKinds(header).values()][0]?.isPlain).toBe(true));

test.each(
  headers(`Accountant Email | friend's_email | Guest Email(s) | Who referred you? Their e-mail: | Mail du conjoint | Correo gestoría | Mutter Handy | Bevollmächtigter Tel. | Email юриста
  Booker Phone | Current employer phone | Delivery driver phone | पिता का मोबाइल | 保護者携帯 | 보호자 연락처 | Veli Tel | Szülő telefonszáma | Kontaktní telefon rodiče | E-mail do contador
  NS1 IP | MX IP | edge ip`),
)('%s may be another party', header => {
  expect([...readHeaderKinds(header).values()][0]?.isPlain).toBe(false);
});

test('words are the same in any case, with or without accents, and parted in any way', () => {
  expect(tokenize('Signup IP')).toEqual(['signup', 'ip']);
  expect(tokenize('signupIp')).toEqual(['signup', 'ip']);
  expect(tokenize('📍IPAddress🌍')).toEqual(['ip', 'address']);
  expect(tokenize('IPv4')).toEqual(['ipv4']);
  expect(tokenize('TELEFON NUMARASI')).toEqual(tokenize('Telefon numarası'));
  expect(tokenize('Država')).toEqual(tokenize('DRZAVA'));
  expect(tokenize('ＴＥＬ')).toEqual(['tel']);
});

test('every phrase is found by itself, in small and in capital letters', () => {
  for (const [language, words] of Object.entries(headerWords))
    for (const kind of ['ip', 'phone', 'email', 'country'] as const)
      for (const phrase of (words as Partial<Record<string, string>>)[kind]?.split(',') ?? []) {
        const plain = phrase.replace('?', '').trim();
        const found = [plain, plain.toUpperCase()].map(header =>
          [...readHeaderKinds(header).keys()].includes(kind),
        );
        expect([language, plain, ...found]).toEqual([language, plain, true, true]);
      }
});

test('docs/formats.md has the number of languages', () => {
  const docs = readFileSync(new URL('../../docs/formats.md', import.meta.url), 'utf8');
  const languages = Object.keys(headerWords).filter(name => name !== 'all languages');
  expect(docs).toContain(`[${languages.length} languages](../src/columns/recognize/words.json)`);
});

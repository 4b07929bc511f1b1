import type {Intelligence} from '../../operations/table.ts';

export type ColumnKind = Intelligence | 'country';

/**
 * A language's words: phrases separated by commas, in any case, with or without accents. A `?` marks a phrase with
 * another meaning too, such as Turkish `cep` (CEP is a postcode in Brazil): most values must then fit.
 */
interface LanguageWords extends Readonly<Partial<Record<ColumnKind, string>>> {
  /** Words that may follow a kind's word without changing its meaning: `Phone 1 - Value`, `Telefon privat`. */
  readonly behind?: string;
  /** Words that may only follow a word for country: `code` in `country_code`. */
  readonly behindCountry?: string;
}

/**
 * The words that identify columns, by language. They are kept by hand, only here; docs/formats.md names the
 * languages. A word must mean its kind and nothing else, unless `?` marks it. The column's values are
 * always checked too.
 */
export const headerWords = {
  English: {
    ip: 'ip, ips, ipv4, inet?, inet addr, login ip, signup ip, client ip, user ip, source ip, remote ip, ip address, ip addresses, ip addr, ipaddr, forwarded for, xff, remote addr, remote address, client addr',
    phone:
      'phone, phones, phone number, telephone, tel, telno, mobile, mob, cell, cellphone, cell phone, cellular?, msisdn, ph?, gsm?, landline?, contact number, contact no, WhatsApp?',
    email: 'email, emails, e mail, e mails, mail, mails, username?, user name?',
    country: 'country, nation, cc, iso2, iso3, ctry, cntry',
    behind:
      'number, numbers, no, nr, nbr, nmbr, num, value, values, address, addresses, addr, v4, ipv4, phone, mobile, cell, landline, home, work, office, business, personal, private, main, primary, secondary, other, alternate, alternative, alt, direct, day, daytime, evening, international, intl, e164, raw, formatted, full',
    behindCountry:
      'code, codes, cd, name, names, iso, iso2, iso3, alpha, alpha2, alpha3, short, full, region, territory, area, or, and, of residence, do you live in, are you from, are you based in',
  },
  German: {
    phone:
      'telefon, telefonnummer, telefonnummern, telefonnr, fon?, handy, handynummer, handynr, mobil, mobilnummer, mobilnr, mobiltelefon, mobilfunk?, mobilfunknummer, rufnummer, festnetz?, festnetznummer, natel?',
    email: 'mailadresse, mailadressen, emailadresse',
    country: 'land, ländercode, laendercode, landeskürzel, landeskennzeichen, länderkürzel, staat',
    behind:
      'nummer, nummern, adresse, adressen, mobil, handy, festnetz, privat, geschäftlich, geschaeftlich, dienstlich, beruflich, büro, arbeit, zentrale, wert',
    behindCountry: 'kürzel, kennzeichen, kennung, geschäftlich, privat',
  },
  French: {
    phone: 'téléphone, téléphones, tél, portable?, mobile, numéro de téléphone, numéro de portable, gsm?',
    email: 'courriel, courriels, mél?, adresse électronique, courrier électronique',
    country: 'pays',
    behind:
      'numéro, adresse, portable, fixe, domicile, bureau, travail, professionnel, professionnelle, personnel, personnelle, pro, perso, privé, principal, principale, secondaire, valeur',
    behindCountry: 'région, de résidence',
  },
  Spanish: {
    phone:
      'teléfono, teléfonos, tlf, tfno, telf, móvil, celular, núm de teléfono, número de teléfono, WhatsApp?',
    email: 'correo?, correos?, correo electrónico, correo e, dirección de correo',
    country: 'país, pais',
    behind:
      'número, núm, dirección, electrónico, móvil, fijo, celular, particular, casa, trabajo, oficina, empresa, personal, principal, secundario, contacto, valor',
    behindCountry: 'código, nombre, región, o, de residencia, trabajo',
  },
  Portuguese: {
    phone: 'telefone, telefones, fone, telemóvel, celular, telef, número de telefone, número de celular',
    email: 'correio?, correio eletrônico, correio electrónico, endereço eletrônico',
    country: 'país',
    behind:
      'número, endereço, eletrônico, móvel, fixo, residencial, comercial, casa, trabalho, pessoal, principal, contato, contacto',
    behindCountry: 'código, nome, região, sigla',
  },
  Italian: {
    phone:
      'telefono, telefoni, cellulare, cell?, recapito telefonico, numero di telefono, numero di cellulare',
    email: 'posta elettronica, indirizzo mail, indirizzo di posta elettronica, pec?',
    country: 'paese, nazione, stato estero',
    behind:
      'numero, indirizzo, mobile, cellulare, fisso, casa, ufficio, lavoro, aziendale, personale, privato, principale, contatto',
    behindCountry: 'codice, nome, sigla, area geografica, di residenza',
  },
  Dutch: {
    phone:
      'telefoon, telefoonnummer, telefoonnr, mobiel, mobielnummer, mobiele telefoon, gsm nummer, vaste telefoon',
    email: 'mailadres, emailadres, e mailadres',
    country: 'land, landcode',
    behind: 'nummer, adres, mobiel, vast, thuis, werk, zakelijk, privé, waarde',
    behindCountry: 'naam, regio',
  },
  Swedish: {
    phone: 'telefon, telefonnummer, mobil, mobilnummer, mobiltelefon',
    email: 'epost, e post, e postadress, epostadress, mejl',
    country: 'land, landskod',
    behind: 'nummer, adress, mobil, hem, arbete, jobb, privat',
  },
  Danish: {
    phone: 'telefon, telefonnummer, tlf, tlf nr, mobil, mobilnummer, mobiltelefon',
    email: 'mailadresse, emailadresse, e mailadresse',
    country: 'land, landekode',
    behind: 'nummer, adresse, mobil, hjem, arbejde, privat',
  },
  Norwegian: {
    phone: 'telefon, telefonnummer, tlf, mobil, mobilnummer, mobiltelefon',
    email: 'epost, e post, epostadresse, e postadresse',
    country: 'land, landkode',
    behind: 'nummer, adresse, mobil, hjem, arbeid, privat',
  },
  Finnish: {
    phone: 'puhelin, puhelinnumero, puh, matkapuhelin, matkapuhelinnumero, kännykkä, gsm?',
    email: 'sähköposti, sähköpostiosoite, s posti',
    country: 'maa, maakoodi, maatunnus',
    behind: 'numero, osoite, koti, työ',
  },
  Polish: {
    phone:
      'telefon, telefonu, telefony, numer telefonu, nr telefonu, nr tel, tel kom, komórka?, komórkowy?, telefon komórkowy',
    email: 'poczta?, poczta elektroniczna, adres e mail, adres poczty elektronicznej',
    country: 'kraj, kraju, państwo, kod kraju',
    behind:
      'numer, adres, komórkowy, komórka, stacjonarny, domowy, służbowy, prywatny, kontaktowy, kontaktowego, główny',
    behindCountry: 'kod, nazwa, zamieszkania',
  },
  Czech: {
    phone: 'telefon, telefonu, telefonní číslo, mobil, mobilní telefon, číslo telefonu, tel číslo',
    email: 'e mailová adresa, emailová adresa, elektronická pošta',
    country: 'země, stát, kód země',
    behind: 'číslo, adresa, mobilní, pevná, domů, práce, soukromý',
  },
  Slovak: {
    phone: 'telefón, telefónu, telefónne číslo, mobil, mobilný telefón',
    email: 'e mailová adresa, elektronická pošta',
    country: 'krajina, štát',
    behind: 'číslo, adresa, mobilný, domov, práca, súkromný',
  },
  Slovenian: {
    phone: 'telefon, telefonska številka, mobitel, gsm?',
    email: 'e pošta, elektronska pošta, e naslov, e poštni naslov',
    country: 'država',
    behind: 'številka, naslov',
  },
  Croatian: {
    phone: 'telefon, broj telefona, mobitel, broj mobitela, mobilni?, kontakt telefon',
    email: 'e pošta, elektronička pošta, mejl, e mail adresa',
    country: 'država, zemlja',
    behind: 'broj, adresa',
  },
  Serbian: {
    phone: 'телефон, број телефона, мобилни?, мобилни телефон',
    email: 'имејл, мејл, е пошта, електронска пошта',
    country: 'држава, земља',
    behind: 'број, адреса',
  },
  Hungarian: {
    phone: 'telefon, telefonszám, mobil, mobilszám, mobiltelefon, telefonszáma',
    email: 'e mail cím, emailcím, email cím, levelezési cím email',
    country: 'ország, országkód',
    behind: 'szám, száma, cím, címe, mobil, otthoni, munkahelyi',
  },
  Romanian: {
    phone: 'telefon, număr de telefon, nr telefon, numar telefon, mobil, telefon mobil',
    email: 'poștă electronică, adresă de email, adresa email',
    country: 'țară, țara, tara, cod țară',
    behind: 'număr, adresă, mobil, fix, acasă, serviciu',
  },
  Bulgarian: {
    phone: 'телефон, телефонен номер, мобилен?, мобилен телефон, гсм?',
    email: 'имейл, имейл адрес, електронна поща, е поща',
    country: 'държава, страна',
    behind: 'номер, адрес, мобилен',
  },
  Greek: {
    phone: 'τηλέφωνο, τηλ, αριθμός τηλεφώνου, κινητό, κινητό τηλέφωνο, σταθερό?',
    email: 'ηλεκτρονικό ταχυδρομείο, ηλεκτρονική διεύθυνση, διεύθυνση email',
    country: 'χώρα',
    behind: 'αριθμός, διεύθυνση, κινητό, σταθερό, εργασίας, οικίας',
  },
  Turkish: {
    phone:
      'telefon, telefonu, telefon no, telefon numarası, cep?, cep telefonu, cep no, gsm?, gsm no, irtibat no',
    email: 'e posta, eposta, e posta adresi, elektronik posta',
    country: 'ülke, ülkesi, ülke kodu',
    behind: 'numara, numarası, adres, adresi, cep, ev, iş',
    behindCountry: 'kodu, adı',
  },
  Russian: {
    phone:
      'телефон, телефона, телефоны, номер телефона, тел, моб, мобильный, мобильный телефон, сотовый, контактный телефон',
    email: 'почта?, эл почта, электронная почта, адрес электронной почты, электронный адрес, имейл, емейл',
    country: 'страна, страны, код страны',
    behind: 'номер, адрес, мобильный, рабочий, домашний, контактный, личный, основной',
    behindCountry: 'код, проживания',
  },
  Ukrainian: {
    phone: 'телефон, телефону, номер телефону, тел, моб, мобільний, мобільний телефон, контактний телефон',
    email: 'пошта?, ел пошта, електронна пошта, адреса електронної пошти, імейл',
    country: 'країна, країни, код країни',
    behind: 'номер, адреса, мобільний, робочий, домашній',
  },
  Lithuanian: {
    phone: 'telefonas, telefono numeris, tel nr, mobilusis, mobilus telefonas',
    email: 'el paštas, elektroninis paštas, el pašto adresas',
    country: 'šalis, valstybė',
    behind: 'numeris, adresas',
  },
  Latvian: {
    phone: 'tālrunis, tālruņa numurs, telefons, mobilais, mobilais tālrunis',
    email: 'e pasts, e pasta adrese',
    country: 'valsts',
    behind: 'numurs, adrese',
  },
  Estonian: {
    phone: 'telefon, telefoninumber, telefoni number, mobiil, mobiiltelefon',
    email: 'e post, e posti aadress, meil',
    country: 'riik',
    behind: 'number, aadress',
  },
  Catalan: {
    phone: 'telèfon, telèfons, mòbil, número de telèfon',
    email: 'correu, correu electrònic, adreça electrònica',
    country: 'país',
    behind: 'número, adreça, electrònic, mòbil, fix',
  },
  Indonesian: {
    phone:
      'telepon, telpon, nomor telepon, no telepon, no telp, telp, hp?, no hp, nomor hp, ponsel, handphone, nomor ponsel',
    email: 'surel, alamat email, pos el',
    country: 'negara, kode negara',
    behind: 'nomor, alamat, rumah, kantor',
  },
  Vietnamese: {
    phone: 'điện thoại, số điện thoại, sđt, di động, số di động, điện thoại di động',
    email: 'thư điện tử, địa chỉ email',
    country: 'quốc gia, nước, mã quốc gia',
    behind: 'số, địa chỉ, di động, nhà',
  },
  Arabic: {
    phone:
      'هاتف, رقم الهاتف, جوال, رقم الجوال, موبايل, رقم الموبايل, محمول?, تلفون, رقم التليفون, رقم الاتصال',
    email: 'بريد?, البريد الإلكتروني, بريد إلكتروني, ايميل, إيميل, عنوان البريد الإلكتروني',
    country: 'دولة, الدولة, بلد, البلد, رمز الدولة',
    behind: 'رقم, الجوال, المحمول, العمل, المنزل, الإلكتروني',
  },
  Hebrew: {
    phone: 'טלפון, מספר טלפון, נייד, טלפון נייד, סלולרי, מספר נייד',
    email: 'דואר אלקטרוני, דוא ל, אימייל, מייל, כתובת מייל',
    country: 'מדינה, ארץ',
    behind: 'מספר, נייד, כתובת',
  },
  Persian: {
    phone: 'تلفن, شماره تلفن, موبایل, شماره موبایل, تلفن همراه, شماره تماس, همراه?',
    email: 'ایمیل, پست الکترونیک, پست الکترونیکی, رایانامه',
    country: 'کشور',
    behind: 'شماره, همراه, ثابت',
  },
  Hindi: {
    phone: 'फ़ोन, फोन, फ़ोन नंबर, मोबाइल, मोबाइल नंबर, दूरभाष',
    email: 'ईमेल, ई मेल, ईमेल पता',
    country: 'देश',
    behind: 'नंबर, संख्या, पता',
  },
  Thai: {
    phone: 'โทรศัพท์, เบอร์โทร, เบอร์โทรศัพท์, หมายเลขโทรศัพท์, มือถือ, เบอร์มือถือ',
    email: 'อีเมล, อีเมล์, ที่อยู่อีเมล',
    country: 'ประเทศ',
    behind: 'มือถือ, บ้าน',
  },
  Chinese: {
    phone:
      '电话, 電話, 电话号码, 電話號碼, 手机, 手機, 手机号, 手机号码, 手機號碼, 移动电话, 行動電話, 联系电话, 聯絡電話, 座机, 固定电话',
    email:
      '邮箱, 郵箱, 电子邮箱, 电子邮件, 電子郵件, 邮件?, 郵件?, 电邮, 電郵, 信箱?, 邮箱地址, 邮件地址, 電郵地址, 电子邮件地址',
    country: '国家, 國家, 国别, 國別, 所在国家',
    behind: '号码, 號碼, 地址, 号, 值',
    behindCountry: '地区, 地區, 代码, 代碼, 名称, 或地区',
  },
  Japanese: {
    phone: '電話, 電話番号, 携帯?, 携帯電話, 携帯番号, 携帯電話番号, 固定電話, 連絡先電話番号',
    email: 'メール?, メールアドレス, メアド, 電子メール, eメール',
    country: '国, 国名, 国コード, 居住国',
    behind: '番号, アドレス, 自宅, 勤務先, 携帯',
    behindCountry: '地域, コード, または地域',
  },
  Korean: {
    phone: '전화, 전화번호, 휴대폰, 휴대폰번호, 휴대전화, 휴대전화번호, 핸드폰, 핸드폰번호, 연락처?',
    email: '이메일, 이메일주소, 메일, 메일주소, 전자우편, 전자메일',
    country: '국가, 나라, 국가명, 국가코드',
    behind: '번호, 주소, 자택, 직장',
    behindCountry: '지역, 코드, 이름',
  },
} as const satisfies Readonly<Record<string, LanguageWords>> & {
  /** English has words for every kind. */
  readonly English: LanguageWords & Readonly<Record<ColumnKind, string>>;
};

import type {headerWords} from './header-words.ts';

/**
 * Words of headers that still mean the row's own person. Phrases are written as in header-words.ts. If a word
 * is missing here, the user has to add a flag. A wrong word costs money, so words that may mean a second person
 * are left out.
 */
export interface NeutralWords {
  /** The persons of a list: `Customer Email`, `Correo alumno`. */
  readonly persons?: string;
  /**
   * Words for a value's purpose or time (`billing_email`), and words that web forms add (`Your e-mail (required)`).
   */
  readonly neutral?: string;
  /** Words that describe a visit to a site. They count for IP addresses only: `last_login_ip`. */
  readonly visits?: string;
}

export const neutralWords = {
  English: {
    persons:
      'customer, customers, cust, client, clients, user, users, usr, member, members, guest, subscriber, subscribers, contact, contacts, person, individual, participant, attendee, delegate, registrant, invitee, applicant, candidate, patient, student, pupil, learner, lead, prospect, respondent, requester, requestor, caller, visitor, passenger, pax, traveller, traveler, buyer, purchaser, shopper, consumer, cardholder, card holder, account holder, policyholder, policy holder, insured, donor, voter, borrower, debtor, payer, consignee',
    neutral:
      'my, your, what, is, please, enter, provide, best, the, a, required, optional, mandatory, first, second, third, last, latest, current, new, old, previous, original, initial, recent, default, preferred, fields, field, data, info, details, profile, attributes, properties, metadata, meta, custom, record, event, payload, body, entry, form, verified, confirmed, confirm, confirmation, normalized, normalised, canonical, clean, valid, billing, bill, shipping, ship, delivery, mailing, order, orders, checkout, purchase, payment, signup, sign up, signin, sign in, login, log in, logon, register, registered, registration, reg, subscription, subscribed, optin, opt in, newsletter, marketing, enrollment, enrolment, booking, rsvp, lead, created, joined, recovery, backup, notification, sms, text, whatsapp, voice, call, callback, night, house, residential, from',
    visits:
      'remote, source, src, browser, request, req, session, device, access, connecting, connection, real, true, x, http, https, cf, public, external, wan, web, click, visit, view, submit, submission, activity, transaction, conversion, booked, c',
  },
  German: {
    persons:
      'kunde, kunden, kundin, nutzer, benutzer, mitglied, mitglieds, gast, abonnent, empf, teilnehmer, teilnehmerin, bewerber, bewerberin, patient, patienten, pat, schüler, schülerin, kontakt, person, personen, käufer, käuferin, besteller, interessent, anrufer, mieter, spender, fahrgast',
    neutral:
      'ihre, deine, meine, ihr, erste, zweite, letzte, letzter, neue, alte, standard, bevorzugt, rechnung, rechnungs, lieferung, liefer, versand, bestellung, anmeldung, anmelde, registrierung, registrierungs, login, pflichtfeld, erforderlich, optional, bestätigt, rückruf, tagsüber, abends',
  },
  French: {
    persons:
      'client, clients, cliente, utilisateur, membre, adhérent, abonné, invité, participant, candidat, patient, élève, étudiant, contact, personne, acheteur, visiteur, donateur, voyageur, assuré',
    neutral:
      'votre, mon, ma, premier, première, deuxième, second, dernier, dernière, nouveau, nouvelle, préféré, facturation, livraison, commande, inscription, connexion, obligatoire, facultatif, confirmé, confirmation, jour, soir',
  },
  Spanish: {
    persons:
      'cliente, clientes, usuario, usuaria, socio, miembro, invitado, participante, asistente, candidato, paciente, alumno, alumna, estudiante, contacto, persona, comprador, visitante, donante, titular, viajero, pasajero, huésped',
    neutral:
      'su, tu, mi, primer, primero, segundo, último, última, nuevo, preferido, facturación, envío, entrega, compra, registro, inscripción, acceso, sesión, obligatorio, opcional, confirmado, confirmación',
  },
  Portuguese: {
    persons:
      'cliente, usuário, utilizador, membro, convidado, participante, candidato, paciente, aluno, aluna, estudante, contato, contacto, pessoa, comprador, visitante, doador, titular, hóspede, passageiro',
    neutral:
      'seu, sua, meu, primeiro, segundo, último, novo, preferido, faturamento, faturação, cobrança, entrega, envio, compra, cadastro, registro, registo, acesso, inscrição, obrigatório, opcional, confirmação',
  },
  Italian: {
    persons:
      'cliente, clienti, utente, socio, membro, ospite, partecipante, candidato, paziente, alunno, alunna, studente, contatto, persona, acquirente, visitatore, iscritto, abbonato, titolare, passeggero',
    neutral:
      'suo, sua, tuo, tua, il, primo, secondo, ultimo, nuovo, preferito, fatturazione, spedizione, consegna, acquisto, registrazione, iscrizione, accesso, obbligatorio, facoltativo, conferma',
  },
  Dutch: {
    persons:
      'klant, klanten, gebruiker, lid, leden, gast, abonnee, deelnemer, kandidaat, patiënt, leerling, student, cursist, contact, persoon, koper, bezoeker, huurder, donateur, reiziger',
    neutral:
      'uw, jouw, mijn, eerste, tweede, laatste, nieuw, voorkeur, factuur, facturatie, verzend, bezorg, bestelling, registratie, aanmelding, aanmeld, inlog, verplicht, optioneel, bevestigd',
  },
  Swedish: {
    persons:
      'kund, användare, medlem, gäst, deltagare, sökande, patient, elev, student, kontakt, person, köpare, besökare',
    neutral:
      'din, er, första, andra, senaste, ny, faktura, leverans, beställning, registrering, inloggning, obligatorisk, valfri',
  },
  Danish: {
    persons:
      'kunde, bruger, medlem, gæst, deltager, ansøger, patient, elev, studerende, kontakt, person, køber, besøgende',
    neutral:
      'din, første, anden, seneste, ny, faktura, levering, bestilling, registrering, tilmelding, obligatorisk, valgfri',
  },
  Norwegian: {
    persons: 'kunde, bruker, medlem, gjest, deltaker, søker, pasient, elev, student, kontakt, person, kjøper',
    neutral:
      'din, første, andre, siste, ny, faktura, levering, bestilling, registrering, påmelding, obligatorisk, valgfri',
  },
  Finnish: {
    persons:
      'asiakas, asiakkaan, käyttäjä, käyttäjän, jäsen, jäsenen, vieras, osallistuja, hakija, potilas, oppilas, opiskelija, henkilö, ostaja',
    neutral: 'ensisijainen, toinen, viimeisin, uusi, laskutus, toimitus, tilaus, rekisteröinti, pakollinen',
  },
  Polish: {
    persons:
      'klient, klienta, użytkownik, użytkownika, członek, członka, gość, gościa, uczestnik, uczestnika, kandydat, kandydata, pacjent, pacjenta, uczeń, ucznia, student, studenta, kontakt, osoba, kupujący, kupującego, nabywca, nabywcy',
    neutral:
      'twój, pierwszy, drugi, ostatni, nowy, do, faktury, dostawy, wysyłki, zamówienia, rejestracji, logowania, wymagane, opcjonalne',
  },
  Czech: {
    persons:
      'zákazník, zákazníka, klient, klienta, uživatel, uživatele, člen, člena, host, účastník, účastníka, uchazeč, pacient, pacienta, žák, žáka, student, studenta, kontakt, kontaktní, osoba, kupující, odběratel, odběratele',
    neutral:
      'váš, první, druhý, poslední, nový, fakturační, dodací, doručovací, registrační, přihlášení, registrace, povinné, nepovinné',
  },
  Slovak: {
    persons:
      'zákazník, zákazníka, klient, klienta, používateľ, člen, hosť, účastník, uchádzač, pacient, žiak, žiaka, študent, kontakt, kontaktný, osoba, kupujúci, odberateľ',
    neutral: 'váš, prvý, druhý, posledný, nový, fakturačný, dodací, registračný, prihlásenie, povinné',
  },
  Slovenian: {
    persons:
      'stranka, stranke, kupec, kupca, uporabnik, uporabnika, član, gost, udeleženec, kandidat, kontakt, oseba',
    neutral: 'vaš, prvi, drugi, zadnji, nov, obvezno',
  },
  Croatian: {
    persons:
      'kupac, kupca, korisnik, korisnika, klijent, klijenta, član, gost, sudionik, kandidat, kontakt, osoba, učenik, učenika',
    neutral: 'vaš, prvi, drugi, zadnji, novi, dostava, račun, registracija, obavezno',
  },
  Serbian: {
    persons: 'купац, купца, корисник, корисника, клијент, клијента, члан, гост, контакт, особа, ученик',
    neutral: 'ваш, први, други, последњи, нови',
  },
  Hungarian: {
    persons:
      'ügyfél, vevő, vásárló, felhasználó, tag, vendég, résztvevő, jelentkező, páciens, beteg, tanuló, diák, kapcsolattartási, személy',
    neutral: 'első, második, utolsó, új, számlázási, szállítási, rendelés, regisztrációs, belépési, kötelező',
  },
  Romanian: {
    persons:
      'client, clientului, utilizator, utilizatorului, membru, oaspete, participant, candidat, pacient, elev, elevului, student, contact, persoană, cumpărător',
    neutral:
      'dvs, primul, al doilea, ultimul, nou, facturare, livrare, comandă, înregistrare, autentificare, obligatoriu',
  },
  Bulgarian: {
    persons:
      'клиент, клиента, потребител, член, гост, участник, кандидат, пациент, ученик, контакт, лице, купувач',
    neutral: 'вашият, първи, втори, последен, нов, фактуриране, доставка, поръчка, регистрация',
  },
  Greek: {
    persons:
      'πελάτης, πελάτη, χρήστης, χρήστη, μέλος, μέλους, επισκέπτης, συμμετέχων, υποψήφιος, ασθενής, ασθενούς, μαθητής, μαθητή, επαφή, επικοινωνίας, αγοραστής',
    neutral: 'σας, πρώτο, δεύτερο, τελευταίο, νέο, χρέωσης, αποστολής, παραγγελίας, εγγραφής',
  },
  Turkish: {
    persons:
      'müşteri, kullanıcı, üye, misafir, katılımcı, aday, hasta, öğrenci, iletişim, kişi, alıcı, ziyaretçi, abone',
    neutral: 'birinci, ikinci, son, yeni, sabit, fatura, teslimat, sipariş, kayıt, giriş, zorunlu',
  },
  Russian: {
    persons:
      'клиент, клиента, клиенты, покупатель, покупателя, заказчик, заказчика, пользователь, пользователя, участник, участника, член, гость, гостя, абонент, абонента, кандидат, кандидата, пациент, пациента, ученик, ученика, студент, студента, контакт, контактное, физлица, посетитель, посетителя',
    neutral:
      'ваш, ваша, первый, второй, последний, новый, доставки, для, заказа, регистрации, входа, последнего, обязательно, городской, стационарный, дополнительный, моб',
  },
  Ukrainian: {
    persons:
      'клієнт, клієнта, покупець, покупця, замовник, замовника, користувач, користувача, учасник, учасника, гість, абонент, кандидат, пацієнт, пацієнта, учень, учня, студент, контакт, контактна, відвідувач',
    neutral:
      'ваш, перший, другий, останній, новий, доставки, замовлення, реєстрації, входу, особистий, додатковий',
  },
  Lithuanian: {
    persons:
      'klientas, kliento, vartotojas, vartotojo, pirkėjas, pirkėjo, narys, nario, svečias, dalyvis, kontaktinis',
    neutral: 'jūsų, pirmas, antras, paskutinis, naujas',
  },
  Latvian: {
    persons: 'klients, klienta, lietotājs, lietotāja, pircējs, pircēja, biedrs, viesis, dalībnieks, kontakta',
    neutral: 'jūsu, pirmais, otrais, pēdējais, jauns',
  },
  Estonian: {
    persons: 'klient, kliendi, kasutaja, ostja, liige, liikme, külaline, osaleja, õpilane, kontakt',
    neutral: 'teie, esimene, teine, viimane, uus',
  },
  Catalan: {
    persons:
      'client, usuari, membre, soci, convidat, participant, candidat, pacient, alumne, alumna, estudiant, contacte, persona, comprador',
    neutral: 'el, teu, seu, primer, segon, últim, nou, facturació, enviament, registre',
  },
  Indonesian: {
    persons:
      'pelanggan, pengguna, anggota, tamu, peserta, pelamar, pasien, siswa, mahasiswa, kontak, orang, pembeli',
    neutral:
      'anda, pertama, kedua, terakhir, baru, penagihan, pengiriman, pesanan, pendaftaran, wajib, aktif, wa',
  },
  Vietnamese: {
    persons: 'khách hàng, khách, người dùng, thành viên, học sinh, sinh viên, bệnh nhân, liên hệ, người mua',
    neutral: 'của, bạn, chính, phụ, mới, đăng ký, đăng nhập, thanh toán, giao hàng',
  },
  Arabic: {
    persons:
      'عميل, العميل, العملاء, مستخدم, المستخدم, عضو, العضو, زائر, الزائر, ضيف, مشترك, المشترك, طالب, الطالب, مريض, المريض, مشتري, المشتري',
    neutral: 'الخاص بك, أول, ثاني, آخر, جديد, الفوترة, الشحن, التسجيل, الدخول, شخصي, الشخصي',
  },
  Hebrew: {
    persons: 'לקוח, הלקוח, משתמש, המשתמש, חבר, אורח, משתתף, מועמד, מטופל, תלמיד, התלמיד, קונה, מבקר',
    neutral: 'שלך, ראשון, שני, אחרון, חדש, חיוב, משלוח, הרשמה, כניסה, בית, אישי',
  },
  Persian: {
    persons: 'مشتری, کاربر, عضو, مهمان, دانش آموز, دانشجو, بیمار, خریدار',
    neutral: 'شما, اول, دوم, آخرین, جدید, منزل, شخصی',
  },
  Hindi: {
    persons: 'ग्राहक, उपयोगकर्ता, सदस्य, अतिथि, छात्र, विद्यार्थी, मरीज़, खरीदार, संपर्क',
    neutral: 'का, की, आपका, पहला, दूसरा, अंतिम, नया',
  },
  Thai: {
    persons: 'ลูกค้า, ผู้ใช้, สมาชิก, ผู้เข้าร่วม, นักเรียน, ผู้ป่วย, ผู้ซื้อ, ติดต่อ',
    neutral: 'ของ, ส่วนตัว, ล่าสุด, ใหม่',
  },
  Chinese: {
    persons:
      '客户, 客戶, 顾客, 顧客, 用户, 用戶, 使用者, 会员, 會員, 成员, 访客, 訪客, 嘉宾, 申请人, 患者, 学生, 學生, 联系人, 聯絡人, 买家, 買家, 本人, 个人, 個人',
    neutral:
      '您的, 的, 主要, 备用, 備用, 首次, 最后, 最後, 最近, 上次, 新, 账单, 帳單, 收货, 收貨, 订单, 訂單, 注册, 註冊, 登录, 登入, 登錄, 绑定, 必填, 联系, 聯絡, 常用, 工作, 家庭',
    visits: '来源, 來源, 客户端, 客戶端, 访问, 訪問, 远程',
  },
  Japanese: {
    persons:
      'お客様, 顧客, 会員, 利用者, ユーザー, ユーザ, ゲスト, 参加者, 申込者, 応募者, 患者, 学生, 生徒, 連絡先, 購入者, 注文者, 訪問者, 本人, ご本人, 個人',
    neutral:
      'の, ご, お, 主, 第一, 第二, 最終, 最新, 新, 請求先, 配送先, お届け先, 注文, 登録, ログイン, 必須, 任意, 日中',
  },
  Korean: {
    persons:
      '고객, 고객님, 회원, 사용자, 이용자, 손님, 참가자, 신청자, 지원자, 환자, 학생, 구매자, 주문자, 방문자, 본인, 개인',
    neutral: '의, 첫, 마지막, 최근, 새, 청구, 배송, 주문, 가입, 등록, 로그인, 접속, 필수, 선택, 집, 유선',
  },
} as const satisfies Readonly<Partial<Record<keyof typeof headerWords, NeutralWords>>>;

import type {headerWords} from './header-words.ts';

/** Words of headers that are a reason not to look a column up. Phrases are written as in header-words.ts. */
export interface OtherWords {
  /** Words for others than the row's person, anywhere in the header: `Owner` in `Lead Owner Email`, `server`. */
  readonly another?: string;
  /** Digits other than phone numbers: `order_no`, `zip`. */
  readonly otherDigits?: string;
  /**
   * Numbers of cards or files, which are not phone numbers even if their digits are in groups: `Aadhaar No.`
   */
  readonly cards?: string;
  /** Versions, which can look like IP addresses: `Firmware`. */
  readonly versions?: string;
  /** Words for values that were made unrecognizable: `ip_anonymized`. */
  readonly masked?: string;
}

export const otherWords = {
  English: {
    another:
      'by, asst, bcc, ip phone, extension, extn, alt contact, alternate contact, other contact, backup contact, engineer, technician, trunk, spouse, husband, wife, relative, next of kin, mother, father, child, nas, owner, agent, assistant, rep, representative, support, helpdesk, server, host, admin, administrator, staff, employee, operator, manager, supervisor, assigned, assignee, approver, reviewer, submitter, referrer, referer, referral, affiliate, reseller, seller, vendor, merchant, supplier, partner, dealer, broker, adviser, advisor, recruiter, sales, salesperson, internal, system, our, gateway, nat, proxy, balancer, lb, upstream, backend, origin, edge, node, router, firewall, local, destination, dest, dst, target, organizer, organiser, venue, to email, to address, recipient address, emergency, guardian, guarantor, parent, reply to, return path, bcc, webmaster, postmaster, fax, pager, opposing, opponent, counterparty, third party, witness, referee, reference, landlord, depot, warehouse, branch',
    otherDigits:
      'id, ids, at, uid, guid, uuid, key, order, invoice, account, acct, ref, reference, sku, ean, upc, gtin, isbn, zip, zipcode, postal, postcode, code, amount, price, total, balance, revenue, date, time, timestamp, ts, epoch, year, birthday, dob, created, updated, qty, quantity, count, version, iban, bic, card, ssn, tax, vat, ein, lat, lon, lng, latitude, longitude, size, bytes, imei, imsi, iccid, serial, tracking, points, score, rank, index, row, line, hash, fax',
    cards:
      'ssn, aadhaar, aadhar, pan, nino, nhs, mrn, nric, sin, tfn, abn, acn, passport, licence, license, permit, member, membership, student, patient, policy, claim, case no, case number, case id, ticket, booking, reservation, flight, room, plate, vin, id, card, iban, imei, iccid',
    versions:
      'version, versions, ver, firmware, fw, release, rel, driver, build, sw, software, rev, revision, chrome, browser, bootloader, bios, kernel, app, patch, oid, section, mask, netmask, subnet',
    masked:
      'masked, anonymized, anonymised, anonymous, redacted, obfuscated, truncated, scrambled, pseudonymized, deleted',
  },
  German: {
    another:
      'betreuer, kundenbetreuer, besitzer, inhaber, eigentümer, verantwortlicher, sachbearbeiter, bearbeiter, mitarbeiter, vertreter, vertriebsmitarbeiter, vermittler, berater, assistent, assistentin, assistenz, ersteller, erstellt von, geändert von, zuständig, zuständiger, zugewiesen, empfehler, lieferant, händler, notfall, notfallkontakt, hotline, server, gegner, zeuge, referenz, vermieter, filiale',
    otherDigits:
      'kundennummer, kundennr, bestellung, bestellnummer, rechnung, rechnungsnummer, rechnungsnr, konto, kontonummer, plz, postleitzahl, betrag, preis, summe, datum, zeit, jahr, geburtsdatum, steuernummer, artikel, artikelnummer, artikelnr, menge, anzahl, auftrag, auftragsnummer, lfd',
    cards: 'steuernummer, ausweis, ausweisnummer, reisepass, versichertennummer, mitgliedsnummer, iban',
  },
  French: {
    another:
      'propriétaire, responsable, commercial, commerciale, conseiller, conseillère, gestionnaire, employé, collaborateur, vendeur, fournisseur, revendeur, parrain, créé par, créateur, modifié par, assigné, attribué, urgence, serveur, hôte, assistance, télécopie',
    otherDigits:
      'commande, facture, compte, code, montant, prix, total, date, heure, année, naissance, siret, siren, cp, postal, référence, quantité, identifiant',
    cards: 'siret, siren, sécurité sociale, secu, passeport, carte',
  },
  Spanish: {
    another:
      'propietario, responsable, agente, asistente, asesor, vendedor, gestor, empleado, encargado, proveedor, distribuidor, creado por, modificado por, asignado, referido, emergencia, servidor, soporte',
    otherDigits:
      'pedido, factura, cuenta, código, importe, precio, fecha, hora, año, nacimiento, dni, nif, nie, cif, cp, referencia, cantidad, identificador',
    cards: 'dni, nif, nie, cif, curp, pasaporte, cédula, cuit, rut',
  },
  Portuguese: {
    another:
      'proprietário, responsável, assistente, atendente, consultor, gerente, funcionário, colaborador, fornecedor, revendedor, criado por, modificado por, atribuído, indicado por, emergência, suporte',
    otherDigits:
      'pedido, fatura, conta, código, valor, preço, data, hora, ano, nascimento, cpf, cnpj, nif, cep, quantidade',
    cards: 'cpf, cnpj, rg, cnh',
  },
  Italian: {
    another:
      'proprietario, responsabile, agente, consulente, commerciale, venditore, gestore, dipendente, operatore, fornitore, rivenditore, creato da, modificato da, assegnato, segnalatore, emergenza, assistenza',
    otherDigits:
      'ordine, fattura, conto, codice, importo, prezzo, data, ora, anno, nascita, cap, partita iva, quantità',
  },
  Dutch: {
    another:
      'eigenaar, medewerker, beheerder, vertegenwoordiger, verkoper, leverancier, aangemaakt door, gewijzigd door, toegewezen, noodgeval',
    otherDigits:
      'klantnummer, order, factuur, rekening, postcode, bedrag, prijs, datum, tijd, jaar, bsn, kvk, aantal',
    cards: 'bsn, kvk, rijbewijs',
  },
  Swedish: {
    another: 'ägare, handläggare, säljare, ansvarig, medarbetare, leverantör, skapad av, tilldelad',
  },
  Danish: {
    another: 'ejer, sagsbehandler, sælger, ansvarlig, medarbejder, leverandør, oprettet af',
  },
  Norwegian: {
    another: 'eier, saksbehandler, selger, ansvarlig, ansatt, leverandør, opprettet av',
  },
  Finnish: {
    another: 'omistaja, vastuuhenkilö, myyjä, käsittelijä, työntekijä, toimittaja',
  },
  Polish: {
    another:
      'właściciel, właściciela, opiekun, opiekuna, handlowiec, handlowca, pracownik, pracownika, sprzedawca, dostawca, utworzył, utworzone przez, przypisany, polecający, awaryjny',
    otherDigits:
      'zamówienie, faktura, konto, kod, kwota, cena, data, czas, rok, pesel, nip, regon, ilość, lp',
    cards: 'pesel, nip, regon, dowód',
  },
  Czech: {
    another: 'vlastník, obchodník, zástupce, zaměstnanec, správce, dodavatel, vytvořil, přiřazeno',
  },
  Slovak: {
    another: 'vlastník, obchodník, zástupca, zamestnanec, správca, dodávateľ, vytvoril',
  },
  Slovenian: {
    another: 'lastnik, skrbnik, prodajalec, zaposleni',
  },
  Croatian: {
    another: 'vlasnik, voditelj, prodavač, zaposlenik, dobavljač',
  },
  Serbian: {
    another: 'власник, продавац, запослени',
  },
  Hungarian: {
    another: 'tulajdonos, ügyintéző, felelős, értékesítő, munkatárs, létrehozta, szállító',
  },
  Romanian: {
    another: 'proprietar, responsabil, agent, angajat, furnizor, creat de',
  },
  Bulgarian: {
    another: 'собственик, отговорник, служител, търговец, доставчик',
  },
  Greek: {
    another: 'ιδιοκτήτης, υπεύθυνος, υπάλληλος, πωλητής, προμηθευτής',
  },
  Turkish: {
    another:
      'sahibi, sorumlu, sorumlusu, temsilci, temsilcisi, yönetici, çalışan, personel, bayi, tedarikçi, oluşturan, destek, acil',
    otherDigits: 'sipariş, fatura, hesap, kodu, tutar, fiyat, tarih, saat, yıl, kimlik, tc, vergi, adet',
  },
  Russian: {
    another:
      'владелец, владельца, ответственный, ответственного, менеджер, менеджера, оператор, оператора, сотрудник, сотрудника, агент, агента, продавец, продавца, поставщик, поставщика, создал, автор, поддержка, поддержки, сервер, сервера, экстренный, факс',
    otherDigits:
      'заказ, заказа, счет, код, сумма, цена, дата, время, год, инн, кпп, огрн, индекс, количество, артикул',
  },
  Ukrainian: {
    another:
      'власник, власника, відповідальний, менеджер, менеджера, оператор, співробітник, агент, продавець, постачальник, підтримка, факс',
  },
  Lithuanian: {
    another: 'savininkas, vadybininkas, darbuotojas, tiekėjas',
  },
  Latvian: {
    another: 'īpašnieks, vadītājs, darbinieks, piegādātājs',
  },
  Estonian: {
    another: 'omanik, haldur, töötaja, tarnija',
  },
  Catalan: {
    another: 'propietari, treballador, venedor, proveïdor',
  },
  Indonesian: {
    another: 'pemilik, pegawai, petugas, karyawan, pemasok, dibuat oleh, darurat',
  },
  Vietnamese: {
    another: 'chủ sở hữu, nhân viên, người tạo, phụ trách, nhà cung cấp',
  },
  Arabic: {
    another: 'مالك, مسؤول, موظف, مندوب, وكيل, مدير, مورد, دعم, خادم, طوارئ, فاكس',
  },
  Hebrew: {
    another: 'בעלים, אחראי, סוכן, עובד, מנהל, ספק, פקס',
  },
  Persian: {
    another: 'مالک, مسئول, کارمند, مدیر, فروشنده',
  },
  Chinese: {
    another:
      '负责人, 業務員, 业务员, 客服, 管理员, 管理員, 销售, 经理, 推荐人, 服务器, 伺服器, 供应商, 紧急联系人, 传真',
    otherDigits:
      '订单, 訂單, 金额, 金額, 日期, 时间, 時間, 编号, 編號, 邮编, 郵編, 身份证, 身份证号, 客户编号, 订单号',
  },
  Japanese: {
    another: '管理者, 営業担当, 所有者, 代理店, 紹介者, 仕入先, サーバー, サーバ, 緊急連絡先, ファックス',
    otherDigits: '注文, 金額, 日付, 日時, 郵便番号, 顧客番号, 会員番号, 注文番号, 口座番号',
  },
  Korean: {
    another: '담당자, 관리자, 소유자, 영업사원, 상담원, 추천인, 공급업체, 서버, 비상연락처, 팩스',
    otherDigits: '주문, 금액, 날짜, 시간, 우편번호, 고객번호, 주문번호, 계좌번호',
  },
} as const satisfies Readonly<Partial<Record<keyof typeof headerWords, OtherWords>>>;

import type {KnownList} from './known-list.ts';

/** In full-width letters. */
export const wide = (text: string) =>
  text.replace(/[!-~]/g, letter => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));

const emails: Readonly<Record<string, (local: string, domain: string) => string>> = {
  plain: (local, domain) => `${local}@${domain}`,
  'capital domain': (local, domain) => `${local}@${domain.toUpperCase()}`,
  brackets: (local, domain) => `<${local}@${domain}>`,
  'display name': (local, domain) => `Jo Doe <${local}@${domain}>`,
  'mailto:': (local, domain) => `mailto:${local}@${domain}?subject=x`,
  'spaces around @': (local, domain) => `${local} @ ${domain}`,
  'full-width': (local, domain) => wide(`${local}@${domain}`),
  'wide @': (local, domain) => `${local}＠${domain.replaceAll('.', '。')}`,
  quoted: (local, domain) => `“${local}@${domain}”`,
  'comma behind': (local, domain) => `${local}@${domain},`,
  'no-break space': (local, domain) => `\u00a0${local}@${domain}\u200b`,
};

const ips: Readonly<Record<string, (ip: string) => string>> = {
  plain: ip => ip,
  mapped: ip => `::ffff:${ip}`,
  port: ip => `${ip}:443`,
  brackets: ip => `[${ip}]`,
  mask: ip => `${ip}/32`,
  'full-width': wide,
  number: ip => String(ip.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)),
};

const headers = {email: ['email', 'Kontakt'], ip: ['ip', 'seen']} as const;
const nothings = ['n/a', '-', 'none of it', 'call me'] as const;

function lists(kind: 'email' | 'ip', spelling: string, cellOf: (n: number) => [text: string, meant: string]) {
  return [1, 3, 10, 100].flatMap(length =>
    [0, 0.1, 0.4].flatMap(share =>
      headers[kind].map((header): KnownList => {
        const cells = Array.from({length}, (_, n) =>
          n % 10 < share * 10 ? ([nothings[n % 4], undefined] as const) : cellOf(n),
        );
        return {
          name: `${kind}, ${spelling}, ${header}, ${length} rows, ${share * 100}% without`,
          kind,
          country: 'DE',
          header: ['id', header],
          rows: cells.map(([text = ''], n) => [`n${n}`, text]),
          meant: cells.map(([, meant]) => meant),
          undecidable: cells.map(() => undefined),
        };
      }),
    ),
  );
}

/** Lists of e-mail addresses and of IP addresses. */
export const addressKinds: readonly KnownList[] = [
  ...Object.entries(emails).flatMap(([name, write]) =>
    lists('email', name, n => [write(`Jo.${n}`, 'mail.example.com'), `Jo.${n}@mail.example.com`]),
  ),
  ...Object.entries(ips).flatMap(([name, write]) =>
    lists('ip', name, n => [write(`203.0.113.${n}`), `203.0.113.${n}`]),
  ),
];

import {describe, expect, it} from 'vitest';
import {Accounts} from '../../src/service/verdict/accounts.ts';
import {describeDevice, type UserSession} from '../../src/service/verdict/user-session.ts';

describe('a device', () => {
  const device = (user_agent: string | undefined) =>
    describeDevice({token: 't', ip: '9.9.9.9', ...(user_agent !== undefined && {user_agent})} as UserSession);

  const webkit = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0';
  const nt = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit}`;
  const safari = 'Mobile/15E148 Safari/604.1';

  const ios = (version: string) =>
    `Mozilla/5.0 (iPhone; CPU iPhone OS ${version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko)`;

  it.each([
    [`${nt} Safari/537.36`, {browser: 'Chrome 126', os: 'Windows', is_mobile: false}],
    [`${ios('17_4')} Version/17.4 ${safari}`, {browser: 'Safari 17', os: 'iOS 17.4', is_mobile: true}],
    ['Mozilla/5.0 (Windows NT 6.1; rv:115.0) Gecko/20100101 Firefox/115.0', {os: 'Windows 7'}],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${webkit} Safari/537.36`, {os: 'macOS'}],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:127.0) Gecko/20100101 Firefox/127.0', {os: 'macOS'}],
    [`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_6) ${webkit} Safari/537.36`, {os: 'macOS Catalina'}],
    [`Mozilla/5.0 (Linux; Android 10; K) ${webkit} Mobile Safari/537.36`, {os: 'Android', is_mobile: true}],
    [`Mozilla/5.0 (Linux; Android 10; Pixel 3) ${webkit} Mobile Safari/537.36`, {os: 'Android 10'}],
    [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${webkit} Safari/537.36`, {os: 'Chrome OS', is_mobile: false}],
    [`${ios('18_6')} Version/26.0 ${safari}`, {browser: 'Safari 26', os: 'iOS', is_mobile: true}],
    [`${ios('18_7')} FxiOS/148.1 Mobile/15E148 Safari/604.1`, {browser: 'Firefox 148', os: 'iOS'}],
    [`${ios('18_7_0')} Version/26.0 EdgiOS/142.0 Mobile/15E148 Safari/604.1`, {os: 'iOS'}],
    [`${ios('18_6')} Mobile/15E148 Instagram 320.0 (iPhone14,5; iOS 26_0)`, {os: 'iOS'}],
    [`${ios('18_6_2')} CriOS/145.0 Mobile/15E148 Safari/604.1`, {browser: 'Chrome 145', os: 'iOS 18.6.2'}],
    [`${ios('18_6')} Version/18.6 Mobile/15E148 Safari/604.1`, {os: 'iOS 18.6'}],
    [`${ios('18_3')} Mobile/15E148 Safari/604.1`, {os: 'iOS 18.3'}],
    ['UCWEB/2.0 (MIDP-2.0; U; Adr 4.0) U2/1.0.0 UCBrowser/10 U2/1.0.0 Mobile', {is_mobile: true}],
  ])('%s', (user_agent, shown) => {
    expect(device(user_agent)).toMatchObject({shown: {user_agent, ...shown}, isBot: false});
  });

  it.each([
    'curl/8.5.0',
    'Mozilla/5.0 HeadlessChrome/126',
    'Googlebot/2.1',
    'x'.repeat(2000),
    'Example/5.2 (iPhone; iOS 17.4; Scale/3.00)',
    'Example/5.2 (com.example.app; build:1; iOS 17.4.0) Alamofire/5.6.4',
    'Example/3 CFNetwork/1494.0.7 Darwin/23.4.0',
    'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/UQ1A)',
    'Dart/3.3 (dart:io)',
    'okhttp/4.12.0',
    'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.1682',
    'Mozilla/5.0 (Windows NT 10.0; Microsoft Windows 10.0.19045; en-US) PowerShell/7.4.1',
  ])('%.30s is a bot, of no browser', user_agent => {
    expect(device(user_agent)).toEqual({shown: {user_agent}, isBot: true});
  });

  it('without a user agent is a bot', () => {
    expect(device(undefined)).toEqual({shown: {}, isBot: true});
    expect(device('')).toEqual({shown: {user_agent: ''}, isBot: true});
  });

  it('of a user agent that says nothing has neither browser nor system', () => {
    expect(device('Mozilla/5.0 (unknown thing; of no use) Gecko').shown).not.toHaveProperty('is_mobile');
  });
});

describe('accounts', () => {
  const session = (token: string, more: Partial<UserSession> = {}) => ({token, ip: '9.9.9.9', ...more});

  it('are linked by all shared signals, with their combined confidence', () => {
    const accounts = new Accounts();
    const both = {ip: '1.1.1.1', fingerprint: 'f'};
    const email = 'ab@gmail.com';
    accounts.note({userId: 'ip', session: session('1', {ip: '1.1.1.1'})});
    accounts.note({userId: 'device', session: session('2', {ip: '2.2.2.2', fingerprint: 'f'})});
    accounts.note({userId: 'mail', session: session('3', {ip: '3.3.3.3'}), email: 'A.B@gmail.com'});
    accounts.note({userId: 'all', session: session('4', both), email});
    accounts.note({userId: 'none', session: session('5', {ip: '5.5.5.5', fingerprint: 'g'})});
    const linked = accounts.linkedWith({userId: 'me', session: session('6', both), email});
    expect(linked.accounts?.map(({user_id, signals, confidence}) => [user_id, signals, confidence])).toEqual([
      ['all', ['same_email', 'same_fingerprint', 'same_ip'], 0.986],
      ['mail', ['same_email'], 0.9],
      ['device', ['same_fingerprint'], 0.8],
      ['ip', ['same_ip'], 0.3],
    ]);
    expect(linked).toMatchObject({detected: true, risk: 'high', score: 99});
  });

  it.each([
    ['nothing', {ip: '8.8.8.8'}, {detected: false, risk: 'none', score: 0}],
    ['an address', {}, {detected: false, risk: 'low', score: 30}],
    ['a device', {ip: '8.8.8.8', fingerprint: 'f'}, {detected: true, risk: 'medium', score: 80}],
  ])('sharing %s comes to its risk', (_, shared, risk) => {
    const accounts = new Accounts();
    accounts.note({userId: 'other', session: session('1', {fingerprint: 'f'})});
    expect(accounts.linkedWith({userId: 'me', session: session('2', shared)})).toMatchObject(risk);
  });

  it('count sessions once each, and know the latest activity, in UTC', () => {
    const accounts = new Accounts();
    for (const [at, time] of ['10:00:00Z', '13:30:00+02:00', '09:00:00Z', '10:00:00Z'].entries())
      accounts.note({userId: 'other', session: session(`${at % 3}`, {finished_at: `2026-06-01T${time}`})});
    expect(accounts.linkedWith({userId: 'me', session: session('4')}).accounts).toEqual([
      {
        ...{user_id: 'other', signals: ['same_ip'], confidence: 0.3},
        ...{session_count: 3, last_activity: '2026-06-01T11:30:00.000Z'},
      },
    ]);
  });

  it('are shown fifty at most, and one’s own never', () => {
    const accounts = new Accounts();
    for (let index = 0; index < 5000; index++)
      accounts.note({userId: `u${index}`, session: session(`t${index}`)});
    const linked = accounts.linkedWith({userId: 'u7', session: session('t7')});
    expect(linked.accounts).toHaveLength(50);
    expect(linked.accounts?.map(({user_id}) => user_id)).not.toContain('u7');
  });
});

import Bowser from 'bowser';
import {isbot} from 'isbot';
import type {VerifyData} from '../../operations/table.ts';
import type {UserSession} from './user-session.ts';

/** The device of a session, from its user agent. */
export interface Device {
  shown: NonNullable<VerifyData['device']>;
  /** True if the user agent names a program (an app's HTTP client included) or is missing. */
  isBot: boolean;
}

/** Matches user agents of browsers. They name their engine, except those of old Operas and feature phones. */
const browserAgent = /^(?:Mozilla\/.*(?:WebKit|Gecko|Trident|MSIE)|(?:Opera|UCWEB)\/)|MIDP/;

/**
 * Matches a system version that a browser froze to hide the real one. Windows 11 says NT 10.0. macOS since
 * Big Sur says 10.15 (10_15_7 except in Firefox). Chrome on Android says "10; K". iOS 26 says 18_6 or 18_7,
 * and so does Firefox on any iOS (mozilla-mobile/firefox-ios, pull request 29548). From Safari 18 and Chrome,
 * 18_6 and 18_7 are the real version, so they do not match.
 */
const frozenVersion =
  /Windows NT 10\.0|Mac OS X 10(?:_15_7|\.15)[;)]|Android 10; K\)|CPU (?:iPhone )?OS 18_[67](?!.*(?:Version\/18|CriOS))/;

/**
 * The device of a session. A bot's device has no browser and no system: its user agent may name a browser
 * that it only pretends to be.
 */
export function describeDevice(session: UserSession): Device {
  const {fingerprint, user_agent, languages, timezone} = session;
  const isBot = !user_agent || isbot(user_agent) || !browserAgent.test(user_agent);
  return {
    shown: {fingerprint, user_agent, ...(isBot ? {} : browserOf(user_agent)), languages, timezone},
    isBot,
  };
}

/**
 * Browser, system, and kind of device. Phones and tablets are mobile. bowser names no platform for Chrome OS,
 * which counts as a desktop system.
 */
function browserOf(userAgent: string): NonNullable<VerifyData['device']> {
  const {browser, os, platform} = Bowser.parse(userAgent);
  const version = browser.version?.split('.')[0] ?? '';
  const systemVersion = frozenVersion.test(userAgent) ? undefined : (os.versionName ?? os.version);
  const system = [os.name, systemVersion].filter(Boolean).join(' ');
  const type = platform.type ?? (os.name === 'Chrome OS' ? 'desktop' : undefined);
  return {
    ...(browser.name && {browser: [browser.name, version].filter(Boolean).join(' ')}),
    ...(system && {os: system}),
    ...(type && {is_mobile: type === 'mobile' || type === 'tablet'}),
  };
}

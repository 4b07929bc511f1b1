import Bowser from 'bowser';
import {isbot} from 'isbot';
import type {VerifyData} from '../../operations/table.ts';
import type {UserSession} from './user-session.ts';

/** The device of a session, and what its user agent gives away. */
export interface Device {
  shown: NonNullable<VerifyData['device']>;
  /** The user agent says that it is a program, or there is none. */
  isBot: boolean;
}

/** A bot's user agent names no browser: what a parser would read out of it is a costume. */
export function describeDevice(session: UserSession): Device {
  const {fingerprint, user_agent, languages, timezone} = session;
  const isBot = !user_agent || isbot(user_agent);
  return {
    shown: {
      ...(fingerprint !== undefined && {fingerprint}),
      ...(user_agent !== undefined && {user_agent}),
      ...(isBot ? {} : browserOf(user_agent)),
      ...(languages !== undefined && {languages}),
      ...(timezone !== undefined && {timezone}),
    },
    isBot,
  };
}

/** Phones and tablets are mobile. */
function browserOf(userAgent: string): NonNullable<VerifyData['device']> {
  const {browser, os, platform} = Bowser.parse(userAgent);
  const version = browser.version?.split('.')[0] ?? '';
  const system = [os.name, os.versionName ?? os.version].filter(Boolean).join(' ');
  return {
    ...(browser.name && {browser: [browser.name, version].filter(Boolean).join(' ')}),
    ...(system && {os: system}),
    ...(platform.type && {is_mobile: platform.type === 'mobile' || platform.type === 'tablet'}),
  };
}

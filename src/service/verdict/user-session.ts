import {z} from 'zod';
import {readFileText} from '../../disk/path.ts';
import {checkWithSchema, ServiceSetupError} from '../options.ts';

const line = (max: number): z.ZodString => z.string().max(max);

/** A session: its token, and the data that the script of a protected page gathers about a visitor. */
export const userSessionSchema = z
  .strictObject({
    token: line(4096).min(1).describe('The session token that /verify gets.'),
    ip: z.union([z.ipv4(), z.ipv6()]).describe("The visitor's address."),
    user_agent: line(2048).optional().describe("The browser's User-Agent header."),
    languages: line(256).optional().describe('As in Accept-Language: `en-GB,en`.'),
    timezone: line(64).optional().describe('IANA name: `Europe/Berlin`.'),
    fingerprint: line(256).optional().describe("A hash of the device's traits."),
    started_at: z.iso.datetime({offset: true}).optional().describe('RFC 3339.'),
    finished_at: z.iso.datetime({offset: true}).optional().describe('RFC 3339.'),
    user_id: line(256).min(1).optional().describe('The account of the session, if known.'),
    email: line(320).min(1).optional().describe("That account's e-mail address."),
  })
  .describe('A session that /verify knows. In a file, one JSON object a line.');

export type UserSession = z.infer<typeof userSessionSchema>;

/**
 * Reads a file of sessions, one JSON object a line. `trim` removes a byte order mark.
 * @throws ServiceSetupError that names file, line and field, never a value
 */
export function readUserSessions(path: string): UserSession[] {
  const lines = readText(path).split('\n');
  return lines.flatMap((line, index) =>
    line.trim() === '' ? [] : parseUserSession(line.trim(), `${path}:${index + 1}`),
  );
}

function readText(path: string): string {
  try {
    return readFileText(path, true);
  } catch (error) {
    throw new ServiceSetupError(`The sessions file can't be read: ${(error as Error).message}`);
  }
}

function parseUserSession(text: string, place: string): UserSession {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ServiceSetupError(`${place} is not a JSON object`);
  }
  return checkWithSchema(userSessionSchema, value, place, 'the line');
}

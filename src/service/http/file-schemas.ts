import {z} from 'zod';
import {rulesSchema} from '../verdict/access-rule.ts';
import {sessionSchema} from '../verdict/user-session.ts';

/** JSON Schemas of what users write for the service: a line of a sessions file, and a rules file. */
export const describeFiles = (): {session: object; rules: object} => ({
  session: z.toJSONSchema(sessionSchema, {io: 'input'}),
  rules: z.toJSONSchema(rulesSchema, {io: 'input'}),
});

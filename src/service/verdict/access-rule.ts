import {z} from 'zod';

/** A rule as it stands in a rules file. */
const ruleSchema = z.strictObject({
  id: z.string().min(1).max(64).describe('Unique in the file.'),
  name: z.string().min(1).max(200).describe('In words.'),
  source: z
    .enum(['bot', 'access'])
    .describe('bot: says that a program is at work, and lowers the score; access: says who may pass.'),
  action: z
    .enum(['allow', 'block', 'flag'])
    .describe('allow: passes, whatever else matched; block: does not pass; flag: neither, by itself.'),
  when: z.string().min(1).describe('A condition on the facts, in the Common Expression Language.'),
  weight: z.number().min(0).max(100).default(0).describe('What a match takes off the score.'),
  shadow: z.boolean().default(false).describe('Shown when it matches, but without effect.'),
});

/** A rules file: YAML or JSON, a list of rules in the order in which they are shown. */
export const rulesSchema = z.array(ruleSchema).describe('Rules of the embedded service.');

export type Rule = z.infer<typeof ruleSchema>;

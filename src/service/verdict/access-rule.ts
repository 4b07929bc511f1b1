import {z} from 'zod';

const ruleSchema = z.strictObject({
  id: z.string().min(1).max(64).describe('Unique in the file.'),
  name: z.string().min(1).max(200).describe('In words.'),
  source: z
    .enum(['bot', 'access'])
    .describe('bot: lowers the score, because a program is at work; access: decides who may pass.'),
  action: z
    .enum(['allow', 'block', 'flag'])
    .describe('allow: passes, even if other rules match; block: does not pass; flag: decides nothing.'),
  when: z.string().min(1).describe('A condition on the facts, in the Common Expression Language.'),
  weight: z.number().min(0).max(100).default(0).describe('Points that a match takes off the score.'),
  shadow: z.boolean().default(false).describe('True if a match is only shown, without effect.'),
});

/** A rules file (YAML or JSON): a list of rules. A verdict lists the rules that matched in this order. */
export const accessRulesSchema = z.array(ruleSchema).describe('Rules of the embedded service.');

export type AccessRule = z.infer<typeof ruleSchema>;

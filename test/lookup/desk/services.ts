import {play, type services} from './play.ts';

/** Shares of the ideal, where it can't be had: what a limit of calls at once costs to find. */
const least: Readonly<Record<string, number>> = {
  '8 at once, 100 ms': 0.75,
  'connections break above 20 at once': 0.5,
};

/** Plays one service of the table. Returns each promise that does not hold. */
export function playService(
  [name, options, make, ideal]: (typeof services)[number],
  values: number,
): readonly string[] {
  const {told, lastTold, refused, sent} = play({...options, values}, make());
  const answered = [...told.values()].filter(({status}) => status === 'ok').length;
  const share = (told.size * 1_000) / lastTold / ideal;
  return [
    told.size === values ? '' : `${told.size} of ${values} values are told`,
    answered >= 0.99 * values ? '' : `${answered} of ${values} values are answered`,
    refused <= sent.length / 4 ? '' : `${refused} of ${sent.length} calls are refused`,
    share >= (least[name] ?? 0.85) ? '' : `${share.toFixed(2)} of the ideal`,
  ].flatMap(fault => (fault === '' ? [] : [`${name}: ${fault}`]));
}

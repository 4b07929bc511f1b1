import {createInterface, type Interface} from 'node:readline';
import {BulkEnrichError, exitCodes} from '../../errors.ts';
import {isInteractive} from '../console.ts';
import {print, printable} from '../terminal/printable.ts';

/** Returns a message if an answer is wrong; undefined if it is fine. */
type CheckAnswer = (answer: string) => string | undefined;

/** Asks the user until `check` accepts the answer. An empty answer means `otherwise`. */
export type Ask = (question: string, otherwise: string, check: CheckAnswer) => Promise<string>;

/** Gives `work` a function that asks the user. Without a terminal, each question gets its default answer. */
export async function withPrompt<T>(work: (ask: Ask, interactive: boolean) => Promise<T>): Promise<T> {
  if (!isInteractive()) return work(async (_, otherwise) => otherwise, false);
  const prompt = createInterface({input: process.stdin, output: process.stderr});
  try {
    return await work(askOn(prompt), true);
  } finally {
    prompt.close();
  }
}

function askOn(prompt: Interface): Ask {
  // The iterator keeps lines that come before their question, such as pasted ones. Node's `question()` loses them.
  const lines = prompt[Symbol.asyncIterator]();
  let open = true;
  prompt.once('close', () => {
    open = false;
  });
  return async (question, otherwise, check) => {
    for (;;) {
      prompt.setPrompt(printable(`${question} [${otherwise}] `));
      if (open) prompt.prompt();
      const line = await lines.next();
      if (line.done === true)
        throw new BulkEnrichError(
          'interrupted',
          exitCodes.interrupted,
          'Cancelled. Nothing was sent or written.',
        );
      const answer = line.value.trim() || otherwise;
      const wrong = check(answer);
      if (wrong === undefined) return answer;
      print('stderr', `${wrong}\n`);
    }
  };
}

/** Default answer to a yes-or-no question, shown in brackets behind the question. It means no. */
const NO = 'y/N';

/** Asks a yes-or-no question. True for yes; Enter means no. */
export async function agrees(ask: Ask, question: string): Promise<boolean> {
  return /^y(es)?$/i.test(await ask(question, NO, yesOrNo));
}

const yesOrNo: CheckAnswer = answer =>
  answer === NO || /^(y|yes|n|no)$/i.test(answer) ? undefined : 'Please answer y or n.';

/** Accepts one of these words, in any case. */
export function oneOf(words: readonly string[], what: string): CheckAnswer {
  return answer =>
    words.some(word => word.toLowerCase() === answer.toLowerCase()) ? undefined : `Please answer ${what}.`;
}

export const wholeNumber: CheckAnswer = answer =>
  /^\d{1,12}$/.test(answer) ? undefined : 'Please give a whole number such as 5000, or 0.';

import {createInterface} from 'node:readline';
import {print, printable} from './printable.ts';

/** Asks a yes-or-no question at the terminal. True for yes; Enter, and the end of the input, mean no. */
export async function agrees(question: string): Promise<boolean> {
  const prompt = createInterface({input: process.stdin, output: process.stderr});
  prompt.setPrompt(printable(`${question} [y/N] `));
  try {
    prompt.prompt();
    for await (const line of prompt) {
      const answer = line.trim().toLowerCase();
      if (['', 'y', 'yes', 'n', 'no'].includes(answer)) return answer.startsWith('y');
      print('stderr', 'Please answer y or n.\n');
      prompt.prompt();
    }
    return false;
  } finally {
    prompt.close();
  }
}

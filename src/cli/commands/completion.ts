import type {Command} from 'commander';
import {UsageError} from '../../errors.ts';
import {print} from '../terminal/printable.ts';

/** A command as a shell completes it. */
interface Completed {
  /** The words of the command: `run`, or `store stats`. */
  readonly words: string;
  readonly about: string;
  readonly flags: readonly {
    readonly long: string;
    readonly about: string;
    readonly takesValue: boolean;
    readonly choices: readonly string[];
  }[];
}

/** `bulk-enrich completion SHELL`: prints a script that completes the declared commands, their flags and files. */
export async function completionCommand(shell: string, _: unknown, {parent}: Command): Promise<number> {
  const script = shell === 'bash' ? bash : shell === 'zsh' ? zsh : shell === 'fish' ? fish : undefined;
  if (script === undefined)
    throw new UsageError('settings', `completion: expected bash, zsh or fish, not "${shell}".`);
  if (parent !== null) print('stdout', script(listCommands(parent, '')));
  return 0;
}

function listCommands(above: Command, before: string): Completed[] {
  return above.commands.flatMap(command => {
    const words = `${before}${command.name()}`;
    const flags = command.options.map(option => ({
      long: option.long ?? '',
      about: option.description,
      takesValue: option.required,
      choices: option.argChoices ?? [],
    }));
    return [{words, about: command.summary(), flags}, ...listCommands(command, `${words} `)];
  });
}

/** The words that may follow: `run`, `store` at first, and `stats` behind `store`. */
function wordsBehind(commands: readonly Completed[], before: string): string {
  const isNext = ({words}: Completed) =>
    words.startsWith(before) && !words.slice(before.length).includes(' ') && words !== before;
  return commands
    .filter(isNext)
    .map(({words}) => words.slice(before.length))
    .join(' ');
}

function bash(commands: readonly Completed[]): string {
  const groups = commands.filter(({words}) => wordsBehind(commands, `${words} `) !== '');
  const choices = commands.flatMap(({words, flags}) =>
    flags
      .filter(flag => flag.choices.length > 0)
      .map(flag => `    '${words} ${flag.long}') words='${flag.choices.join(' ')}' ;;`),
  );
  const cases = commands.map(({words, flags}) => {
    const next = [wordsBehind(commands, `${words} `), ...flags.map(({long}) => long)];
    return `    '${words}') words='${next.filter(word => word !== '').join(' ')}' ;;`;
  });
  return `_bulk_enrich() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} name=\${COMP_WORDS[1]} words=
  case "$name" in
    ${groups.map(({words}) => words).join('|') || "''"}) [ "$COMP_CWORD" -gt 2 ] && name="$name \${COMP_WORDS[2]}" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && name=
  case "$name" in
    '') words='${wordsBehind(commands, '')}' ;;
${cases.join('\n')}
  esac
  case "$name $prev" in
${choices.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$cur"))
}
complete -o filenames -F _bulk_enrich bulk-enrich
`;
}

function zsh(commands: readonly Completed[]): string {
  return `autoload -U +X compinit bashcompinit && compinit && bashcompinit\n${bash(commands)}`;
}

function fish(commands: readonly Completed[]): string {
  const quoted = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const within = (words: string) =>
    words
      .split(' ')
      .map(word => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
  const lines = commands.flatMap(({words, about, flags}) => {
    const parts = words.split(' ');
    const above = parts.slice(0, -1).join(' ');
    const place = above === '' ? '__fish_use_subcommand' : within(above);
    return [
      `complete -c bulk-enrich -n ${quoted(place)} -a ${parts.at(-1)} -d ${quoted(about)}`,
      ...flags.map(flag => {
        const value = !flag.takesValue
          ? ''
          : flag.choices.length > 0
            ? ` -x -a ${quoted(flag.choices.join(' '))}`
            : ' -r';
        return `complete -c bulk-enrich -n ${quoted(within(words))} -l ${flag.long.slice(2)}${value} -d ${quoted(flag.about)}`;
      }),
    ];
  });
  return `${lines.join('\n')}\n`;
}

import type {Command} from 'commander';
import {UsageError} from '../../errors.ts';
import {misspelt} from '../../job/closest.ts';
import {spelled} from '../../job/setting-names.ts';
import {describeSettings} from '../../job/settings.ts';
import {intelligenceNames} from '../../operations/table.ts';
import {columnsFor} from '../completion/columns.ts';
import {print, printOwn} from '../terminal/printable.ts';

/** Words that a shell offers for a flag or an argument, separated by blanks; empty if they can't be listed. */
type CompletedWords = string;

interface Flag {
  /** Name with its dashes, such as `--endpoint`. */
  readonly name: string;
  readonly description: string;
  readonly values: CompletedWords;
  /** True if the flag's value names a column of the list, or is an expression that reads columns. */
  readonly takesColumn: boolean;
}

/** A command or subcommand, with the words that a shell offers after it. */
interface Completed {
  /** The command above a subcommand: `store` for `store stats`; undefined for commands such as `run`. */
  readonly parent: string | undefined;
  readonly name: string;
  readonly description: string;
  readonly flags: readonly Flag[];
  readonly subcommands: CompletedWords;
  /** Possible first arguments: subcommands or other words. */
  readonly first: CompletedWords;
}

const scripts = new Map([
  ['bash', bash],
  ['zsh', zsh],
  ['fish', fish],
]);

const firstArguments: Readonly<Record<string, CompletedWords>> = {
  lookup: intelligenceNames.join(' '),
  completion: [...scripts.keys()].join(' '),
};

/** Words that a shell offers for the flag of a setting: `--endpoint` → `embedded live`. Empty for free values. */
const choices: ReadonlyMap<string, CompletedWords> = new Map(
  describeSettings().map(setting => [`--${spelled(setting.name, '-')}`, setting.choices.join(' ')]),
);

/** The argument of `completion` with which the scripts ask for the columns of a list. */
const COLUMNS = 'columns';

const columnFlags: ReadonlySet<string> = new Set(
  describeSettings()
    .filter(({name, value}) => value?.startsWith('COL') === true || name === 'where')
    .map(({name}) => `--${spelled(name, '-')}`),
);

/**
 * `bulk-enrich completion bash|zsh|fish`: prints a script for the shell, made from the declared commands. The
 * script calls `bulk-enrich completion columns -- WORDS` to list the names of columns.
 */
export async function completionCommand(
  program: Command,
  shell: string,
  words: readonly string[],
): Promise<number> {
  if (shell === COLUMNS) {
    const columns = await columnsFor(program, words);
    print('stdout', columns.map(column => `${column}\n`).join(''));
    return 0;
  }
  const script = scripts.get(shell);
  if (script === undefined)
    throw new UsageError(
      'unknown_shell',
      `completion: expected bash, zsh or fish, not "${shell}".`,
      misspelt(shell, [...scripts.keys()]),
    );
  printOwn(script(completed(program)));
  return 0;
}

/** All commands below `above`, at any depth. Each one comes before its subcommands. */
function completed(above: Command, parent?: string): Completed[] {
  return above.commands.flatMap(command => {
    const subcommands = command.commands.map(below => below.name()).join(' ');
    return [
      {
        parent,
        name: command.name(),
        description: quoted(command.description()),
        flags: command.options.flatMap(({long, description, argChoices, hidden}) =>
          typeof long === 'string' && !hidden
            ? [
                {
                  name: long,
                  description: quoted(description),
                  values: choices.get(long) ?? argChoices?.join(' ') ?? '',
                  takesColumn: columnFlags.has(long),
                },
              ]
            : [],
        ),
        subcommands,
        first: firstArguments[command.name()] ?? subcommands,
      },
      ...completed(command, command.name()),
    ];
  });
}

/** Replaces straight quotes, which would end the single-quoted descriptions of all three scripts. */
function quoted(text: string): string {
  return text.replaceAll("'", '’');
}

function bash(commands: readonly Completed[]): string {
  const top = commands.filter(({parent}) => parent === undefined);
  const reply = (words: CompletedWords) => `COMPREPLY=($(compgen -W '${words}' -- "$word"))`;
  const values = new Map(
    commands.flatMap(({flags}) =>
      flags.flatMap(flag => (flag.values === '' ? [] : [[flag.name, flag.values]])),
    ),
  );
  return `# bulk-enrich completion for bash: eval "$(bulk-enrich completion bash)"
_bulk_enrich_columns() {
  local name quoted
  while IFS= read -r name; do
    printf -v quoted %q "$name"
    case "$word" in
      [\\"\\']*) [[ $name == "\${word:1}"* ]] && COMPREPLY+=("$name") ;;
      *) [[ $quoted == "$word"* ]] && COMPREPLY+=("$quoted") ;;
    esac
  done < <(bulk-enrich completion ${COLUMNS} -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)
}
_bulk_enrich() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    ${reply(top.map(({name}) => name).join(' '))}
    return
  fi
  [ "$COMP_CWORD" -eq 2 ] && case "$command" in
${lines(top, ({name, first}) => first !== '' && `    ${name}) ${reply(first)}; return ;;`)}
  esac
  case "$command" in ${holders(top)}) command="$command \${COMP_WORDS[2]}" ;; esac
  case "$before" in
    ${[...columnFlags].join('|')}) _bulk_enrich_columns; return ;;
${lines([...values], ([flag, words]) => `    ${flag}) ${reply(words)}; return ;;`)}
  esac
  # Without words of ours, readline completes names of files, and quotes what is odd in them.
  case "$word" in -*) ;; *) return ;; esac
  case "$command" in
${lines(commands, ({parent, name, flags}) => `    ${fullName(parent, name)}) ${reply(flags.map(flag => flag.name).join(' '))} ;;`)}
  esac
}
complete -o default -F _bulk_enrich bulk-enrich
`;
}

/** A shell pattern that matches the commands with subcommands. */
function holders(top: readonly Completed[]): string {
  return top.flatMap(({name, subcommands}) => (subcommands === '' ? [] : [name])).join('|');
}

function fullName(parent: Completed['parent'], name: string): string {
  return parent === undefined ? name : `'${parent} ${name}'`;
}

/** Escapes colons: in zsh, a colon separates the parts of a completion entry. */
function ofZsh(text: string): string {
  return text.replaceAll(':', '\\:');
}

function zsh(commands: readonly Completed[]): string {
  const top = commands.filter(({parent}) => parent === undefined);
  const value = ({values, takesColumn}: Flag) =>
    takesColumn ? ':column:_bulk_enrich_columns' : values === '' ? '' : `:value:(${values})`;
  const option = (flag: Flag) =>
    `'${flag.name}[${ofZsh(flag.description.replace(/[[\]]/g, ''))}]${value(flag)}'`;
  const specs = ({flags, first}: Completed) => [
    ...flags.map(option),
    ...(first === '' ? [] : [`'1:first:(${first})'`]),
    "'*:file:_files'",
  ];
  return `#compdef bulk-enrich
# bulk-enrich completion for zsh: eval "$(bulk-enrich completion zsh)"
_bulk_enrich_columns() {
  local -a names=("\${(@f)$(bulk-enrich completion ${COLUMNS} -- "\${(@Q)words[1,CURRENT-1]}" 2>/dev/null)}")
  compadd -a names
}
_bulk_enrich() {
  local -a commands=(
${lines(top, ({name, description}) => `    '${name}:${ofZsh(description)}'`)}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local command="$words[2]"
    shift words; (( CURRENT-- ))
    case "$command" in
      ${holders(top)}) (( CURRENT > 2 )) && { command="$command $words[2]"; shift words; (( CURRENT-- )) } ;;
    esac
    case "$command" in
${lines(commands, each => `      ${fullName(each.parent, each.name)}) _arguments ${specs(each).join(' ')} ;;`)}
    esac
  fi
}
compdef _bulk_enrich bulk-enrich
`;
}

function fish(commands: readonly Completed[]): string {
  const after = (name: string) => `__fish_seen_subcommand_from ${name}`;
  const complete = (condition: string, what: string) => `complete -c bulk-enrich -n '${condition}' ${what}`;
  const words = (values: CompletedWords) => (values === '' ? '' : ` -x -a '${values}'`);
  const columns = ` -x -a '(bulk-enrich completion ${COLUMNS} -- (commandline -opc)[2..-1] 2>/dev/null)'`;
  const value = ({values, takesColumn}: Flag) => (takesColumn ? columns : words(values));
  const all = commands.flatMap(({parent, name, description, flags, subcommands, first}) => [
    complete(
      parent === undefined ? '__fish_use_subcommand' : after(parent),
      `-a '${name}' -d '${description}'`,
    ),
    ...(first === subcommands ? [] : [complete(after(name), words(first).trim())]),
    ...flags.map(flag =>
      complete(after(name), `-l '${flag.name.slice(2)}'${value(flag)} -d '${flag.description}'`),
    ),
  ]);
  return `# bulk-enrich completion for fish: bulk-enrich completion fish | source\n${all.join('\n')}\n`;
}

/** Makes a line of each entry and joins the lines. `line` returns false for an entry that gets no line. */
function lines<T>(all: readonly T[], line: (each: T) => string | false): string {
  return all
    .map(line)
    .filter(text => text !== false)
    .join('\n');
}

import type {Command} from 'commander';
import {UsageError} from '../../errors.ts';
import {describeSettings, spelled} from '../../job/settings.ts';
import {intelligenceNames} from '../../operations/table.ts';

/** A command as a shell completes it. */
interface Completed {
  /** `run`, or `cache stats`. */
  readonly words: string;
  readonly description: string;
  readonly flags: readonly {readonly name: string; readonly description: string}[];
  /** What its first argument can be: subcommands, or words. */
  readonly first: readonly string[];
}

/** Commands whose first argument is one of a few words. */
const firstWordsOf: Readonly<Record<string, readonly string[]>> = {
  lookup: intelligenceNames,
  completion: ['bash', 'zsh', 'fish'],
};

/** What flags of settings can be, where those are few words: `--endpoint` → `embedded`, `live`. */
const choices = new Map(
  describeSettings()
    .filter(setting => setting.choices.length > 0)
    .map(setting => [`--${spelled(setting.name, '-')}`, setting.choices.join(' ')]),
);

const shells = {bash, zsh, fish} as const;

/** `bulk-enrich completion bash|zsh|fish`: a script for the shell to load, made from the commands as they are. */
export async function completionCommand(program: Command, shell: string): Promise<number> {
  if (!(shell in shells)) {
    throw new UsageError('unknown_shell', `completion: expected bash, zsh or fish, not "${shell}".`);
  }
  process.stdout.write(shells[shell as keyof typeof shells](completed(program)));
  return 0;
}

function completed(parent: Command, before = ''): Completed[] {
  return parent.commands.flatMap(command => [
    {
      words: `${before}${command.name()}`,
      description: command.description(),
      flags: command.options.flatMap(({long, description}) =>
        long === undefined || long === null ? [] : [{name: long, description}],
      ),
      first: firstWordsOf[command.name()] ?? command.commands.map(below => below.name()),
    },
    ...completed(command, `${before}${command.name()} `),
  ]);
}

function bash(commands: readonly Completed[]): string {
  const cases = commands
    .map(({words, flags}) => `    '${words}') COMPREPLY=($(compgen -W '${names(flags)}' -- "$word")) ;;`)
    .join('\n');
  const values = [...choices]
    .map(([flag, words]) => `    ${flag}) COMPREPLY=($(compgen -W '${words}' -- "$word")); return ;;`)
    .join('\n');
  const firsts = commands
    .filter(({words, first}) => first.length > 0 && !words.includes(' '))
    .map(
      ({words, first}) =>
        `    ${words}) COMPREPLY=($(compgen -W '${first.join(' ')}' -- "$word")); return ;;`,
    )
    .join('\n');
  const parents = commands.flatMap(({words}) => (words.includes(' ') ? [words.split(' ')[0]] : []));
  return `# bulk-enrich completion for bash: eval "$(bulk-enrich completion bash)"
_bulk_enrich() {
  local word="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W '${firstWords(commands)}' -- "$word"))
    return
  fi
  [ "$COMP_CWORD" -eq 2 ] && case "$command" in
${firsts}
  esac
  case "$command" in ${[...new Set(parents)].join('|')}) command="$command \${COMP_WORDS[2]}" ;; esac
  case "$before" in
${values}
  esac
  # Without words of ours, readline completes names of files, and quotes what is odd in them.
  case "$word" in -*) ;; *) return ;; esac
  case "$command" in
${cases}
  esac
}
complete -o default -F _bulk_enrich bulk-enrich
`;
}

function zsh(commands: readonly Completed[]): string {
  const described = commands
    .filter(({words}) => !words.includes(' '))
    .map(({words, description}) => `    '${words}:${quoted(description)}'`)
    .join('\n');
  const cases = commands
    .filter(({words}) => !words.includes(' '))
    .map(({words, flags, first: below}) => {
      const options = flags.map(
        ({name, description}) =>
          `'${name}[${quoted(description).replace(/[[\]]/g, '')}]${choices.has(name) ? `:value:(${choices.get(name)})` : ''}'`,
      );
      const first = below.length === 0 ? [] : [`'1:first:(${below.join(' ')})'`];
      return `      ${words}) _arguments ${[...options, ...first, "'*:file:_files'"].join(' ')} ;;`;
    })
    .join('\n');
  return `#compdef bulk-enrich
# bulk-enrich completion for zsh: eval "$(bulk-enrich completion zsh)"
_bulk_enrich() {
  local -a commands=(
${described}
  )
  if (( CURRENT == 2 )); then
    _describe command commands
  else
    local command="$words[2]"
    shift words; (( CURRENT-- ))
    case "$command" in
${cases}
    esac
  fi
}
compdef _bulk_enrich bulk-enrich
`;
}

function fish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({words, description, flags, first: below}) => {
    const [first = '', second] = words.split(' ');
    const argument =
      words in firstWordsOf
        ? [`complete -c bulk-enrich -n '__fish_seen_subcommand_from ${words}' -x -a '${below.join(' ')}'`]
        : [];
    const condition = second === undefined ? '__fish_use_subcommand' : `__fish_seen_subcommand_from ${first}`;
    const seen = `__fish_seen_subcommand_from ${second ?? first}`;
    return [
      `complete -c bulk-enrich -n '${condition}' -a '${second ?? first}' -d '${quoted(description)}'`,
      ...argument,
      ...flags.map(
        flag =>
          `complete -c bulk-enrich -n '${seen}' -l '${flag.name.slice(2)}'${choices.has(flag.name) ? ` -x -a '${choices.get(flag.name)}'` : ''} -d '${quoted(flag.description)}'`,
      ),
    ];
  });
  return `# bulk-enrich completion for fish: bulk-enrich completion fish | source\n${lines.join('\n')}\n`;
}

function names(flags: Completed['flags']): string {
  return flags.map(flag => flag.name).join(' ');
}

function firstWords(commands: readonly Completed[]): string {
  return commands.flatMap(({words}) => (words.includes(' ') ? [] : [words])).join(' ');
}

/** Descriptions stand in single quotes, in all three shells; a straight one inside would end them. */
function quoted(text: string): string {
  return text.replaceAll("'", '’').replaceAll(':', '\\:');
}

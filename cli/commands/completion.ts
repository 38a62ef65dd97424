/** `portcullis completion SHELL`: a script that completes commands and flags. */
import { Argument, Command } from 'commander';
import { action, exampleHelp } from '../program.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;
type Shell = (typeof SHELLS)[number];

export function completionCommand(): Command {
  const command = new Command('completion')
    .description('print a script that completes commands and flags')
    .addArgument(new Argument('<shell>').choices(SHELLS));
  exampleHelp(command, 'source <(portcullis completion bash)', 'portcullis completion fish | source');
  return action(command, ({ output }, { args, parent }) => {
    const shell = SHELLS.find((name) => name === args[0]) ?? 'bash';
    const script = completionScript(shell, parent ?? command);
    output.result('Completion', { shell, script }, script);
    return 0;
  });
}

/** What may follow each command: `'task show'` to its flags, `'task'` to its verbs. */
function followers(command: Command, path = ''): readonly (readonly [string, readonly string[]])[] {
  const flags = command.options.flatMap(({ long }) => (typeof long === 'string' ? [long] : []));
  const words = [...command.commands.map((child) => child.name()), ...flags];
  const below = command.commands.flatMap((child) => followers(child, `${path} ${child.name()}`.trim()));
  return [[path, words], ...below];
}

export function completionScript(shell: Shell, program: Command): string {
  const table = followers(program);
  const common = table[0]?.[1].filter((word) => word.startsWith('--')) ?? [];
  switch (shell) {
    case 'bash':
      return bash(table, common);
    case 'zsh':
      // zsh runs bash's functions once it is told to.
      return `autoload -U +X bashcompinit && bashcompinit\n${bash(table, common)}`;
    case 'fish':
      return fish(table);
  }
}

function bash(table: ReturnType<typeof followers>, common: readonly string[]): string {
  const cases = table.map(
    ([path, words]) => `    '${path}') words='${[...words, ...(path === '' ? [] : common)].join(' ')}' ;;`,
  );
  return [
    '_portcullis() {',
    "  local path='' word words=''",
    '  for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
    '    [[ $word == -- ]] && return',
    '    [[ $word == -* ]] || path="${path:+$path }$word"',
    '  done',
    '  case $path in',
    ...cases,
    '  esac',
    '  COMPREPLY=($(compgen -W "$words" -- "${COMP_WORDS[COMP_CWORD]}"))',
    '}',
    'complete -o default -F _portcullis portcullis',
    '',
  ].join('\n');
}

function fish(table: ReturnType<typeof followers>): string {
  const lines = table.flatMap(([path, words]) =>
    words.map((word) => {
      const condition = path === '' ? '' : ` -n '__fish_seen_subcommand_from ${path.split(' ').at(-1) ?? ''}'`;
      return word.startsWith('--')
        ? `complete -c portcullis${condition} -l ${word.slice(2)}`
        : `complete -c portcullis -f${path === '' ? " -n '__fish_use_subcommand'" : condition} -a ${word}`;
    }),
  );
  return `${lines.join('\n')}\n`;
}

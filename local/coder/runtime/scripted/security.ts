/** What the scripted security reviewer can see in the lines of a change: little, but really in the text that is there. */

/** A line that a change adds, where it stands at the head. */
export interface AddedLine {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
}

export interface Hole {
  readonly kind: 'hard-coded-secret' | 'evaluated-input' | 'shell-injection';
  readonly scenario: string;
  readonly fix: string;
}

const SIGHTS: readonly (Hole & { readonly sight: RegExp })[] = [
  {
    kind: 'hard-coded-secret',
    sight:
      /(?:\b|_)(?:password|passwd|secret|token|api_?key|credential)s?\b['"]?\s*[:=]\s*(['"`])(?!\$\{)[^'"`]{8,}\1|\bAKIA[0-9A-Z]{16}\b|-----BEGIN [A-Z ]*PRIVATE KEY-----/i,
    scenario: 'Whoever can read the repository, now or later, has the credential that stands in it.',
    fix: 'Take it from the environment or a secret store, and revoke the one that was committed.',
  },
  {
    kind: 'evaluated-input',
    sight: /(?<![\w.$])(?:eval|new Function)\s*\(/,
    scenario: 'Text that a caller chooses is run as code, with the rights of the process.',
    fix: 'Parse what is meant instead of evaluating it.',
  },
  {
    kind: 'shell-injection',
    sight:
      /(?:\b(?:child_process|cp)\.|(?<![\w.$]))(?:exec|execSync)\s*\(\s*(?:`[^`]*\$\{|['"][^'"]*['"]\s*\+|[A-Za-z_$][\w$]*\s*\+)|\bshell\s*:\s*true\b|\bos\.system\s*\(/,
    scenario: 'A caller who puts a semicolon or a backtick into the argument runs commands of its own.',
    fix: 'Call the program with a list of arguments and without a shell.',
  },
];

/** Comments run nothing. */
export function holesIn(text: string): readonly Hole[] {
  if (isComment(text)) return [];
  return SIGHTS.flatMap(({ sight, ...hole }) => (sight.test(text) ? [hole] : []));
}

function isComment(text: string): boolean {
  return /^\s*(?:\/\/|\*|#)/.test(text);
}

/** From the output of `git diff --unified=0`. */
export function addedLines(diff: string): readonly AddedLine[] {
  const added: AddedLine[] = [];
  let path = '';
  let line = 0;
  for (const text of diff.split('\n')) {
    const file = /^\+\+\+ (?:b\/(.*)|\/dev\/null)$/.exec(text);
    const hunk = /^@@ -\S+ \+(\d+)(?:,\d+)? @@/.exec(text);
    if (file !== null) path = file[1] ?? '';
    else if (hunk !== null) line = Number(hunk[1]);
    else if (text.startsWith('+')) {
      added.push({ path, line, text: text.slice(1) });
      line += 1;
    }
  }
  return added;
}

/** `docs/reference/command-attacks.md`: every tried attack on command verification, its answer and its rule. */
import { ATTACK_RUNS, ATTACKS, attacksBy, type Attack } from '../../test/support/command-attacks.ts';
import { cell, markdownTable, page } from './markdown.ts';

const ANSWERS: Readonly<Record<Attack['answer'], string>> = {
  refused: 'by name; nothing is dispatched, or nothing is prepared and nothing runs',
  neutralised: 'accepted, and what was smuggled in does not run',
  contained: 'runs inside the sandbox only, and is seen',
  not_evidence: 'a green exit that the counts do not take for one',
};

const LONGEST = 120;
const PREPARATION = '47 to 58';
const ESCAPES = 59;

export function attacksPage(): string {
  const count = (answer: Attack['answer']) => ATTACKS.filter((one) => one.answer === answer).length;
  const answers = Object.entries(ANSWERS).map(([answer, meaning]) => [`\`${answer}\``, meaning]);
  const rows = ATTACKS.map((attack) => [
    attack.row,
    cell(attack.attempt),
    triedAs(attack),
    attack.answer === 'refused' && 'reason' in attack
      ? `\`${attack.answer}\` (\`${attack.reason}\`)`
      : `\`${attack.answer}\``,
    cell(attack.rule),
  ]);
  const intro = `${ATTACKS.length} attempts to make a verify run something else, or prove nothing: ${count('refused')} are refused, ${count('neutralised')} neutralised, ${count('contained')} contained and ${count('not_evidence')} seen through. They are data (\`policies/commands/attacks.json\`), and the tests walk them: by the policy alone, by the schema of the request, by ${Object.keys(ATTACK_RUNS).length} runs of the real tools (${toolsTried()}), or by a test of its own. That such a test is there, ran and passed is seen at the end of \`npm test\`, which fails otherwise. Rows to 38 are those of the first list, later ones our own; rows ${PREPARATION} are attacks on [preparation](../concepts/preparation.md), row ${ESCAPES} is what code tries from inside the sandbox. bun is tried by the policy only.`;
  return page(
    'Attacks on command verification',
    intro,
    [
      markdownTable(['Answer', 'Meaning'], answers),
      markdownTable(['Row', 'Attempt', 'Tried as', 'Answer', 'Rule'], rows),
    ].join('\n\n'),
  );
}

function toolsTried(): string {
  const used = new Set(attacksBy('tool').map(({ run }) => ATTACK_RUNS[run]?.argv[0] ?? ''));
  return [...used].toSorted().join(', ');
}

function triedAs(attack: Attack): string {
  switch (attack.walk) {
    case 'policy':
      return code(argvText(attack.argv));
    case 'request':
      return 'a request';
    case 'tool':
      return `${code((ATTACK_RUNS[attack.run]?.argv ?? []).join(' '))}, run \`${attack.run}\``;
    case 'test':
      return `\`${attack.file}\`: ${cell(attack.test)}`;
  }
}

function argvText(argv: Extract<Attack, { walk: 'policy' }>['argv']): string {
  if (!Array.isArray(argv)) return wordText(argv);
  return argv.length === 0 ? '(nothing)' : argv.map(wordText).join(' ');
}

function wordText(word: string | { readonly repeat: string; readonly times: number }): string {
  if (typeof word !== 'string') return `${wordText(word.repeat.slice(0, 8))} … (${word.times} times)`;
  return word === '' ? "''" : word;
}

/** As code in a cell: characters that cannot be seen are written as escapes. */
function code(text: string): string {
  const visible = text
    .replace(/[^\x20-\x7e…]/gu, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`)
    .replaceAll('|', '\\|');
  return `\`${visible.length > LONGEST ? `${visible.slice(0, LONGEST)} …` : visible}\``;
}

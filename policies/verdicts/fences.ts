/** Finds the fenced `json` blocks of a message with a CommonMark parser, as any Markdown viewer would show them. */
import { fromMarkdown } from 'mdast-util-from-markdown';

/**
 * Inline Markdown cannot open or close a block, and takes quadratic time on hostile input (`[[[[…`), so it is not parsed.
 * Link definitions stay: what follows one reads as a paragraph or not depending on it.
 */
const BLOCKS_ONLY = {
  disable: {
    null: [
      'attention',
      'autolink',
      'codeText',
      'hardBreakEscape',
      'htmlText',
      'labelEnd',
      'labelStartImage',
      'labelStartLink',
    ],
  },
};

type Root = ReturnType<typeof fromMarkdown>;
type Block = Root['children'][number];

/**
 * The contents of the fenced blocks whose info string begins with the word `json` (any letter case), in the order of the
 * message. Blocks inside lists count; indented code and what stands in a quote, in HTML or in another block do not. An
 * unclosed fence runs to the end, as CommonMark has it. Call it within `MESSAGE_BOUNDS` only.
 */
export function jsonFences(message: string): readonly string[] {
  const found: string[] = [];
  // A stack, not recursion; children go on in reverse so that they come off in the order of the message.
  const open: Block[] = fromMarkdown(message, { extensions: [BLOCKS_ONLY] }).children.toReversed();
  for (let block = open.pop(); block !== undefined; block = open.pop()) {
    switch (block.type) {
      case 'code':
        if (block.lang?.toLowerCase() === 'json') found.push(block.value);
        break;
      case 'list':
      case 'listItem':
        open.push(...block.children.toReversed());
        break;
      default:
    }
  }
  return found;
}

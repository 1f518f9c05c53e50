import { isRun, type Block } from './blocks.ts'

/** One line of a block that is run. */
export interface Line {
  readonly block: Block
  /** Of the page, from 1. */
  readonly number: number
  readonly text: string
}

/** Lines of blocks that are run, without empty ones and remarks for the reader. */
export function linesOf(blocks: readonly Block[]): Line[] {
  return blocks
    .filter(isRun)
    .flatMap((block) => block.text.split('\n').map((text, at) => ({ block, number: block.line + at, text })))
    .filter((line) => line.text.trim() !== '' && !isRemark(line))
}

/** A comment of a shell block that shows no answer. */
export function isRemark({ block, text }: Line): boolean {
  return block.language === 'sh' && /^# (?!\d{3}(?: |$)|\{|data: | )/.test(text)
}

/** Part of what is shown of an answer: nothing can need it, but it must be true. */
export function isShown({ block, text }: Line): boolean {
  return block.language === 'sh' && text.startsWith('# ')
}

export function withoutLine({ block, number }: Line): Block {
  return {
    ...block,
    text: block.text
      .split('\n')
      .filter((_, at) => at !== number - block.line)
      .join('\n'),
  }
}

/** The same line with a mistake in it. */
export function withMistake(line: Line): Block {
  const { block, number } = line
  return {
    ...block,
    text: block.text
      .split('\n')
      .map((text, at) => (at === number - block.line ? mistaken(text) : text))
      .join('\n'),
  }
}

/** What a mistake is, by what the line has; the first that it has is taken. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  // What is shown of an answer, or of an output.
  [/^# \d{3}/, '# 299'],
  [/^# data: \[/, '# data: [no'],
  [/^(\/\/|#) (?=\[|true|\d)/, '$1 9'],
  [/bin\/sluice (?=\w)/, 'bin/sluice no-'],
  [/(?<=\$api|\/api\/v1|\/scim\/v2|\/egress)\//, '/no/'],
  [/\bfield \./, 'field .no_'],
  [/"(?=[\w./-]+" ?:)/, '"no_'],
  [/(?<=-H ['"])(?=\w)/, 'No-'],
  // Of anything else its first word.
  [/[A-Za-z_]{2,}/, 'no_$&'],
]

function mistaken(text: string): string {
  const found = MISTAKES.find(([has]) => has.test(text))
  return found === undefined ? `${text} )` : text.replace(found[0], found[1])
}

import type { SourceFile, Token } from '../source.ts'

export interface Literal {
  readonly text: string
  readonly line: number
}

/** A value that only a run has. */
const PLACE = '…'

/**
 * The texts of a source file that have several words: literals, those that are joined by `+` as one, and what
 * stands between the tags of JSX. Statements in SQL and names of modules are left out.
 */
export function literalsOf(file: SourceFile): readonly Literal[] {
  const found = [...joined(file.tokens), ...(file.path.endsWith('.tsx') ? textsOfTags(file) : [])]
  return found.filter(({ text }) => /\p{L}\s+\S*\p{L}/u.test(text) && !SQL.test(text))
}

const SQL = new RegExp(
  [
    /^\s*(?:select|insert into|update \w+ set|delete from|with \w+ as|create|alter|drop|lock table|copy)\b/,
    /^\s*(?:begin|set local|SET LOCAL)\b|\b(?:CREATE|ALTER) (?:TABLE|ROLE|DATABASE)\b/,
    /redis\.call\(|\b(?:SELECT|FROM|WHERE)\b|\bfrom \w+ where\b/,
  ]
    .map(({ source }) => source)
    .join('|'),
)

function joined(tokens: readonly Token[]): readonly Literal[] {
  const found: Literal[] = []
  tokens.forEach((token, index) => {
    if (token.kind !== 'string' || isTagged(tokens, index)) return
    const plus = tokens[index - 1]
    const before = tokens[index - 2]
    const last = found.at(-1)
    if (plus?.text === '+' && before?.kind === 'string' && last !== undefined)
      found[found.length - 1] = { text: last.text + textOf(token.text), line: last.line }
    else found.push({ text: textOf(token.text), line: token.line })
  })
  return found
}

/** A template of a function, which here are statements of SQL. */
function isTagged(tokens: readonly Token[], index: number): boolean {
  const [before, token] = [tokens[index - 1], tokens[index]]
  if (token?.text.startsWith('`') !== true || token.isApart) return false
  return before?.kind === 'word' || before?.text === '>' || before?.text === ')'
}

function textOf(literal: string): string {
  const inside = literal.slice(1, -1)
  const text = literal.startsWith('`') ? withoutPlaces(inside) : inside
  return text.replace(/\\n/g, '\n').replace(/\\(.)/g, '$1')
}

/** The nested texts of places are left out with them: few have more than a word. */
function withoutPlaces(template: string): string {
  let text = ''
  let depth = 0
  for (let at = 0; at < template.length; at++) {
    const char = template[at] ?? ''
    if (depth === 0 && char === '$' && template[at + 1] === '{') {
      depth = 1
      at++
      text += PLACE
    } else if (depth === 0) text += char
    else if (char === '{') depth++
    else if (char === '}') depth--
  }
  return text
}

/** What stands between a tag or a place and the next one, and reads as prose rather than as code. */
function textsOfTags({ text }: SourceFile): readonly Literal[] {
  return [...text.matchAll(/(?<=[>}])[^<>{}]+(?=[<{])/g)].flatMap(({ 0: found, index }) => {
    const prose = found.replace(/\s+/g, ' ').trim()
    const isCode =
      /=|;$|^[);,\]]|'\.|\[\s*'|\)\.\w|\b(?:const|return|import|export|function|interface|instanceof)\b/.test(
        prose,
      )
    return isCode ? [] : [{ text: prose, line: text.slice(0, index).split('\n').length }]
  })
}

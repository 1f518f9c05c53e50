import { userTexts, type UserText } from './user-texts.ts'

/** Words for which a plainer one exists: report, send, return; the caller; instead of; meanwhile; resets. */
const ANYWHERE =
  /\b(?:told|tells|nobody|whoever|somebody|in the place of|so long|begins? anew|leads nowhere|is none)\b/i
/** On pages alone, where servers stand behind a proxy, they are plain. */
const OFF_PAGES = /\b(?:behind|beside)\b/i
/** Names of fields, commands and users do not count as words. */
const CODE_SPAN = /`[^`]*`/g

/** Texts with such a word, one line each. */
export function refusedWords(texts: readonly UserText[]): readonly string[] {
  return texts.flatMap(({ source, place, text: whole }) => {
    const text = whole.replace(CODE_SPAN, '``')
    const found = ANYWHERE.exec(text) ?? (source === 'pages' ? null : OFF_PAGES.exec(text))
    return found === null ? [] : [`${place} “${found[0]}”: ${around(text, found.index)}`]
  })
}

const CONTEXT_CHARS = 60

function around(text: string, at: number): string {
  return text.slice(Math.max(0, at - CONTEXT_CHARS), at + CONTEXT_CHARS).replace(/\s+/g, ' ')
}

export function refusedInProduct(): readonly string[] {
  return refusedWords(userTexts())
}

/**
 * Finds citations of the contract and the design, and their anchors. docs/inside/contract.md says how a
 * citation is read.
 */
import type { SourceFile } from '../support/source.ts'

/** A page of the documentation, by its path from the repository's root. */
export interface Page {
  readonly path: string
  readonly text: string
}

/** The document of a number. `unknown`: the repository does not have it. */
type Origin = 'contract' | 'design' | 'unknown'

export interface Citation {
  /** `src/server/http/reply/reply.ts:19`. */
  readonly at: string
  /** As a person reads it: `C24`, `design §6.4`. */
  readonly text: string
  readonly origin: Origin
  /** `c24`, `design-6-4`. */
  readonly anchor: string
}

/** Where the anchors of an origin are. */
const HOMES: Readonly<Record<Exclude<Origin, 'unknown'>, RegExp>> = {
  contract: /^docs\/inside\/contract[\w-]*\.md$/,
  design: /^docs\/inside\/design[\w-]*\.md$/,
}

/** Standards, whose sections stand in no page of ours. */
const STANDARD = /(?:RFC ?\d+|ISO\/IEC [\d-]+|draft-[\w-]+)$/
/** Words before a section of the contract. Any other word is the name of a document. */
const CONNECTING = new Set([
  'and',
  'as',
  'beside',
  'by',
  'contract',
  'from',
  'in',
  'of',
  'or',
  'see',
  'than',
  'that',
  'to',
  'what',
  'with',
])

/** Matches each text with a citation. Cheaper than reading a file as tokens. */
export const MAY_CITE = /§|\b[BCDF]\d|\b(?:issue|acceptance(?: line)?)s? \d/i

/** Citations in a text: sections first. @param line of the text's first line @param path of its file */
export function citationsIn(text: string, line: number, path: string): readonly Citation[] {
  const at = (index: number): string => `${path}:${line + text.slice(0, index).split('\n').length - 1}`
  return [...sectionsIn(text, at), ...numbersIn(text, at), ...tasksIn(text, at)]
}

/** Numbers of tasks, which lead nowhere in the repository. */
function tasksIn(text: string, at: (index: number) => string): readonly Citation[] {
  return [...text.matchAll(/\b(?:issue|acceptance(?: line)?)s? \d+\b/gi)].map((match) => ({
    at: at(match.index),
    text: match[0],
    origin: 'unknown',
    anchor: match[0],
  }))
}

function sectionsIn(text: string, at: (index: number) => string): readonly Citation[] {
  const found: Citation[] = []
  let last: { readonly origin: Origin | null; readonly end: number } = { origin: 'contract', end: -1 }
  for (const match of text.matchAll(/§ ?(\d+(?:\.\d+)*)/g)) {
    const between = last.end < 0 ? null : text.slice(last.end, match.index)
    const goesOn = between !== null && /^(?:\s|,|–|\band\b|\bor\b)+$/.test(between)
    const origin: Origin | null = goesOn ? last.origin : originOf(text.slice(0, match.index))
    const number = match[1] ?? ''
    last = { origin, end: match.index + match[0].length }
    if (origin === null) continue
    const isDesign = origin === 'design'
    found.push({
      at: at(match.index),
      text: `${isDesign ? 'design ' : ''}§${number}`,
      origin,
      anchor: `${isDesign ? 'design-' : 's'}${number.replaceAll('.', '-')}`,
    })
  }
  return found
}

/** @param before the text before the sign @returns null for a section of a standard */
function originOf(before: string): Origin | null {
  const words = before.replace(/[\s`]+/g, ' ').trimEnd()
  if (STANDARD.test(words)) return null
  if (/\bdesign$/i.test(words)) return 'design'
  const word = /[\p{L}-]+$/u.exec(words)?.[0]
  return word === undefined || CONNECTING.has(word.toLowerCase()) ? 'contract' : 'unknown'
}

function numbersIn(text: string, at: (index: number) => string): readonly Citation[] {
  const cite = (name: string, index: number): Citation => ({
    at: at(index),
    text: name,
    origin: 'contract',
    anchor: name.toLowerCase().replaceAll('.', '-'),
  })
  return [
    ...text.matchAll(/(?<![\w.:#/-])([BCDF])(\d+)((?:\.\d+)?)(?:–\1(\d+))?(?!\w|:[A-Z]|\.\d)/g),
  ].flatMap((match) => {
    const [, letter = '', first = '', part = '', last = first] = match
    const count = Math.max(1, Number(last) - Number(first) + 1)
    return Array.from({ length: count }, (_, nth) =>
      cite(`${letter}${Number(first) + nth}${part}`, match.index),
    )
  })
}

/** Citations in the comments of a file, and in its strings of words: sources of rows, titles of tests. */
export function citationsOf(file: SourceFile): readonly Citation[] {
  const comments = joined(file).flatMap(({ text, line }) => citationsIn(text, line, file.path))
  const texts = file.tokens.filter(
    ({ kind, text }) => kind === 'string' && MAY_CITE.test(text) && isProse(text),
  )
  return [...comments, ...texts.flatMap(({ text, line }) => citationsIn(text, line, file.path))]
}

/** False for data that looks like a number of a rule. */
function isProse(text: string): boolean {
  return text.includes('§') || (text.includes(' ') && /[a-z]{3}/.test(text))
}

/** Comments without their signs. Adjacent comments of one line are one text. */
function joined({ comments }: SourceFile): readonly { readonly text: string; readonly line: number }[] {
  const blocks: { text: string; readonly line: number; end: number }[] = []
  for (const { text, line } of comments) {
    const bare = text.replace(/^\/\*\*?|\*\/$/g, '  ').replace(/^[ \t]*(?:\/\/|\*(?!\/))/gm, '  ')
    const end = line + text.split('\n').length - 1
    const last = blocks.at(-1)
    if (text.startsWith('//') && last !== undefined && last.end === line - 1) {
      last.text += `\n${bare}`
      last.end = end
    } else blocks.push({ text: bare, line, end })
  }
  return blocks
}

/** Citations in a page, its blocks of code left out. */
export function citationsOnPage({ path, text }: Page): readonly Citation[] {
  return citationsIn(withoutBlocks(text).replace(/\]\([^)]*\)|<a id="[^"]*"><\/a>/g, ' '), 1, path)
}

/** Anchors of rules, each with its page. An anchor that stands twice is a finding. */
export interface Anchors {
  readonly byOrigin: Readonly<Record<Exclude<Origin, 'unknown'>, ReadonlyMap<string, string>>>
  readonly findings: readonly string[]
}

const RULE = { contract: /^(?:[cdf]\d+|[bs]\d+(?:-\d+)*)$/, design: /^design-\d+(?:-\d+)*$/ } as const

export function anchorsOf(pages: readonly Page[]): Anchors {
  const byOrigin = { contract: new Map<string, string>(), design: new Map<string, string>() }
  const findings: string[] = []
  for (const origin of ['contract', 'design'] as const) {
    for (const { path, text } of pages.filter((page) => HOMES[origin].test(page.path))) {
      for (const id of idsOf(text).filter((one) => RULE[origin].test(one))) {
        const other = byOrigin[origin].get(id)
        if (other !== undefined) findings.push(`${path}#${id} stands in ${other} too`)
        byOrigin[origin].set(id, path)
      }
    }
  }
  return { byOrigin, findings }
}

/** Ids that a page sets by hand. */
export function idsOf(text: string): readonly string[] {
  return [...withoutBlocks(text).matchAll(/<a id="([^"]+)"/g)].map(([, id = '']) => id)
}

/** Citations that lead nowhere, one line each. */
export function unresolved(citations: readonly Citation[], { byOrigin }: Anchors): readonly string[] {
  return citations.flatMap(({ at, text, origin, anchor }) => {
    if (origin === 'unknown') return [`${at} ${text} leads to nothing that the repository has`]
    return byOrigin[origin].has(anchor) ? [] : [`${at} ${text} has no anchor ${anchor}`]
  })
}

/** The same lines, blocks of code emptied. */
export function withoutBlocks(text: string): string {
  return text.replace(/^ *(```+|~~~+)[^\n]*\n[\s\S]*?^ *\1[^\n]*$/gm, (block) => block.replace(/[^\n]/g, ''))
}

/** Every text that users read, by its source. Comments and titles of tests are left out. */
import { openApiOf } from '../../../src/server/http/reference/openapi.ts'
import { OPERATIONS } from '../../../src/server/operations/index.ts'
import { USER_PAGES } from '../pages.ts'
import { readSources, type SourceFile } from '../source.ts'
import { literalsOf } from './literals.ts'

export type TextSource =
  'failures' | 'messages' | 'api' | 'cli' | 'settings' | 'metrics' | 'dashboard' | 'pages'

export interface UserText {
  readonly source: TextSource
  /** `src/server/cli/run.ts:12`, or the JSON pointer of a description in `openapi.json`. */
  readonly place: string
  readonly text: string
}

/** The first that fits. */
const SOURCES: readonly (readonly [RegExp, TextSource])[] = [
  [/^src\/schemas\/(?:failures|failure-words|failure-causes|remedies|issues)\.ts$/, 'failures'],
  [/^src\/server\/cli\//, 'cli'],
  [/^src\/server\/dashboard\//, 'dashboard'],
  [/^src\/(?:schemas\/operator\/settings|server\/config(?:\/[\w-]+)?)\.ts$/, 'settings'],
  [/^src\/server\/(?:observe\/(?:[\w-]*metrics|durations|tally)|main\/node-facts)\.ts$/, 'metrics'],
  [/^src\//, 'messages'],
]

/** The texts of the source, of the API's document as it is built, and of the pages for users. */
export function userTexts(): readonly UserText[] {
  const api = describedIn(JSON.parse(JSON.stringify(openApiOf(OPERATIONS))), 'openapi.json#')
  const described = new Set(api.map(({ text }) => text))
  const literals = readSources('src')
    .flatMap(textsOf)
    .filter(({ text }) => !described.has(text))
  return [...literals, ...api, ...USER_PAGES.flatMap(textsOfPage)]
}

export function textsOf(file: SourceFile): readonly UserText[] {
  const source = SOURCES.find(([path]) => path.test(file.path))?.[1] ?? 'messages'
  return literalsOf(file).map(({ text, line }) => ({ source, place: `${file.path}:${line}`, text }))
}

/** One for each paragraph, row of a table or item of a list; of blocks of code the comments alone. */
export function textsOfPage({ path, text }: { readonly path: string; readonly text: string }): UserText[] {
  const lines = text.replace(/^```[\s\S]*?^```/gm, commentsOf).split('\n')
  const found: UserText[] = []
  let isOpen = false
  lines.forEach((line, index) => {
    const last = found.at(-1)
    if (isOpen && last !== undefined && /^\s*(?!\d+\. )[^\s|#*-]/.test(line))
      found[found.length - 1] = { ...last, text: `${last.text} ${line.trim()}` }
    else if (line.trim() !== '')
      found.push({ source: 'pages', place: `${path}:${index + 1}`, text: line.trim() })
    isOpen = /^[^|#]/.test(line.trim())
  })
  return found
}

/** Keeps the lines of the block; an answer that a comment shows is data. */
function commentsOf(block: string): string {
  return block.replace(/^.*$/gm, (line) =>
    /^# \d|^\/\/ /.test(line) ? '' : (/(?:^|\s)(# .*)$/.exec(line)?.[1] ?? ''),
  )
}

/** Summaries and descriptions; the same text counts once, and examples are not ours to word. */
function describedIn(node: unknown, place: string, known = new Set<string>()): readonly UserText[] {
  if (typeof node !== 'object' || node === null) return []
  return Object.entries(node).flatMap(([name, value]): readonly UserText[] => {
    const at = `${place}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (typeof value !== 'string') return /^examples?$/.test(name) ? [] : describedIn(value, at, known)
    if (!/^(?:description|summary|title)$/.test(name) || known.has(value)) return []
    known.add(value)
    return [{ source: 'api', place: at, text: value }]
  })
}

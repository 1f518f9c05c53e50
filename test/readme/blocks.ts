import { lexer } from 'marked'

/** One fenced block of a Markdown text. */
export interface Block {
  /** Of the page that has it, from the root of the repository. */
  readonly path: string
  /** Of the line after the opening fence, from 1. */
  readonly line: number
  readonly language: string
  /** The second word of its info string: why it is not run here. */
  readonly mark: string | null
  readonly text: string
  /** The heading it stands under. */
  readonly section: string
}

/** One command of a shell block, and what the text says that it answers. */
export interface Command {
  readonly path: string
  readonly line: number
  readonly text: string
  readonly answer: Answer | null
}

export interface Answer {
  /** Null where the text shows a body alone. */
  readonly status: number | null
  readonly body: unknown
  /** All that a script prints, where that is shown. */
  readonly printed?: string
}

/** Drawings are read, and not run. */
export function isRun({ mark, language }: Block): boolean {
  return mark === null && language !== 'text'
}

/** All fenced blocks, in document order. */
export function blocksOf(markdown: string, path = 'README.md'): Block[] {
  const blocks: Block[] = []
  let line = 1
  let section = ''
  for (const token of lexer(markdown)) {
    if (token.type === 'heading') section = String(token['text'])
    if (token.type === 'code') {
      const [language = '', mark = null] = String(token['lang'] ?? '').split(' ')
      blocks.push({ path, line: line + 1, language, mark, text: String(token['text']), section })
    }
    line += token.raw.split('\n').length - 1
  }
  return blocks
}

/** An event of a streamed answer, below its status: `# data: {…}`. */
const EVENT = /^# data: (.*)$/

/** A line that begins an answer: `# 202 {…}` or `# {…}`. */
const ANSWER = /^# (?:(\d{3})(?: |$))?(?=\{|$)/

/**
 * The commands of a shell block: lines that belong together, each with the answer that stands in comments
 * below it. An answer with no command above it is one that nothing gave.
 */
export function commandsOf(block: Block): Command[] {
  const lines = block.text.split('\n')
  const commands: Command[] = []
  for (let at = 0; at < lines.length;) {
    const first = at
    const isComment = /^\s*(?:#|$)/.test(lines[at] ?? '')
    while (!isComment && !isWhole(lines.slice(first, at + 1).join('\n')) && at < lines.length - 1) at += 1
    const orphan = isComment ? answerAt(lines, at) : null
    at += 1
    if (orphan !== null)
      commands.push({ path: block.path, line: block.line + first, text: ':', answer: orphan })
    if (isComment) continue
    const found = answerAt(lines, at)
    if (found !== null) at += 1
    commands.push({
      path: block.path,
      line: block.line + first,
      text: lines.slice(first, found === null ? at : at - 1).join('\n'),
      answer: found,
    })
  }
  return commands
}

/** Quotes are closed, loops ended, and no line ends with a backslash. */
function isWhole(text: string): boolean {
  const bare = text
    .replace(/\\\n/g, ' ')
    .replace(/'[^']*'|"(?:[^"\\]|\\[^])*"/g, 'q')
    .replace(/(^|\s)#.*$/gm, '$1')
  const opened = bare.match(/\bdo\b/g)?.length ?? 0
  const closed = bare.match(/\bdone\b/g)?.length ?? 0
  return !/['"]/.test(bare) && !/\\$/.test(text) && opened === closed
}

function answerAt(lines: readonly string[], at: number): Answer | null {
  const start = ANSWER.exec(lines[at] ?? '')
  if (start === null || (lines[at] ?? '').trim() === '#') return null
  const rest = lines.slice(at + 1)
  const status = start[1] === undefined ? null : Number(start[1])
  if (EVENT.test(rest[0] ?? ''))
    return { status, body: rest.flatMap((line) => eventIn(EVENT.exec(line)?.[1])) }
  const end = rest.findIndex((line) => !line.startsWith('#  '))
  const more = end === -1 ? rest : rest.slice(0, end)
  const shown = [(lines[at] ?? '').slice(start[0].length), ...more.map((line) => line.slice(1))].join(' ')
  return {
    status,
    body: shown.trim() === '' ? undefined : bodyOf(shown),
  }
}

/** The data of each event of a stream. */
export function eventsOf(stream: string): unknown[] {
  return stream.split('\n').flatMap((line) => eventIn(/^data: (.*)$/.exec(line)?.[1]))
}

function eventIn(data: string | undefined): unknown[] {
  if (data === undefined) return []
  return [data === '[DONE]' ? data : bodyOf(data)]
}

/** JSON in which `…` stands for members or elements that are not shown. */
function bodyOf(shown: string): unknown {
  const known = shown.replace(/,?\s*…\s*(?=[\]}])/g, '').replace(/:\s*…/g, ':"…"')
  return JSON.parse(known)
}

/**
 * How an answer differs from what is shown of it: a field that is missing, or a value that is another one.
 * Numbers differ from run to run, and a text with `…` in it says what stands before that.
 */
export function differences(shown: unknown, real: unknown, path = 'the answer'): string[] {
  if (typeof shown === 'string')
    return isLike(shown, real) ? [] : [`${path} is ${JSON.stringify(real)}, not ${JSON.stringify(shown)}`]
  if (typeof shown !== 'object' || shown === null)
    return typeof shown === typeof real && (typeof shown === 'number' || shown === real)
      ? []
      : [`${path} is ${JSON.stringify(real)}, not ${String(shown)}`]
  if (Array.isArray(shown) && Array.isArray(real) && shown.some((one) => typeof one === 'object'))
    return notAmong(shown, real, path)
  if (typeof real !== 'object' || real === null) return [`${path} is ${JSON.stringify(real)}, not an object`]
  return Object.entries(shown).flatMap(([name, value]) =>
    name in real
      ? differences(value, Reflect.get(real, name), `${path}.${name}`)
      : [`${path} has no ${name}`],
  )
}

/** A list has what is shown of it, in any place. */
function notAmong(shown: readonly unknown[], real: readonly unknown[], path: string): string[] {
  return shown.flatMap((one, at) => {
    const found = real.map((each) => differences(one, each, `${path}.${at}`))
    return found.find(({ length }) => length === 0) ?? found[0] ?? [`${path} has nothing in it`]
  })
}

function isLike(shown: string, real: unknown): boolean {
  if (shown === '…') return real !== undefined
  if (!shown.includes('…')) return shown === real
  const [start = '', ...rest] = shown.split('…')
  return typeof real === 'string' && real.startsWith(start) && real.endsWith(rest.at(-1) ?? '')
}

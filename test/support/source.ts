/**
 * Reads our own source as tokens, for the static rules of test/contract. No compiler API: TypeScript 7
 * exports none.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Token {
  readonly kind: 'word' | 'number' | 'string' | 'regex' | 'mark' | 'comment'
  /** As written, quotes and comment signs included. */
  readonly text: string
  /** Counted from 1. */
  readonly line: number
  /** True when white space or a comment stands before it. */
  readonly isApart: boolean
}

export interface SourceFile {
  /** From the repository's root: `src/server/http/body/body.ts`. */
  readonly path: string
  readonly text: string
  /** Comments left out. */
  readonly tokens: readonly Token[]
  readonly comments: readonly Token[]
}

/** The repository's root; tests run from dist/test/… . */
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url))

/** Every `.ts` and `.tsx` file below the folders, sorted by path. */
export function readSources(...folders: readonly string[]): readonly SourceFile[] {
  return folders
    .filter((folder) => existsSync(`${ROOT}${folder}`))
    .flatMap((folder) =>
      readdirSync(`${ROOT}${folder}`, { recursive: true, encoding: 'utf8' })
        .map((name) => `${folder}/${name}`)
        .filter((path) => /\.tsx?$/.test(path))
        .sort()
        .map((path) => sourceFile(path, readFileSync(`${ROOT}${path}`, 'utf8'))),
    )
}

/** @param path decides which rules apply, so that a test can plant a file that does not exist */
export function sourceFile(path: string, text: string): SourceFile {
  const all = tokenize(text)
  return {
    path,
    text,
    tokens: all.filter((token) => token.kind !== 'comment'),
    comments: all.filter((token) => token.kind === 'comment'),
  }
}

const SPACE = /\s+/y
const COMMENT = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
const WORD = /[#@]?[\p{L}_$][\p{L}\p{N}_$]*/uy
const NUMBER = /0[xXbBoO][\da-fA-F_]+n?|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?n?/y
const STRING = /'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"/y
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/y
const MARK = /=>|\.\.\.|[?!=]==?|\?\?=?|\?\.|&&=?|\|\|=?|[+\-*/%&|^<>]=|\+\+|--|[^\s]/y
/** After these a slash begins a regular expression; after a value it divides. */
const BEFORE_REGEX =
  /^(?:[({[,;:=!?&|+\-*%^<>~]|=>|&&|\|\||\?\?|[!=]==?|return|typeof|case|in|of|void|await)$/

function tokenize(text: string): readonly Token[] {
  const tokens: Token[] = []
  let at = 0
  let line = 1
  let isApart = true
  let last = '('
  const take = (pattern: RegExp): string | null => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0] ?? null
  }
  /** Kinds begin with characters of their own, but for a slash: the most frequent kind is tried first. */
  const next = (): readonly [Token['kind'], string] => {
    const word = take(WORD)
    if (word !== null) return ['word', word]
    const char = text[at] ?? ''
    if (char === '`') return ['string', text.slice(at, templateEnd(text, at))]
    const string = char === "'" || char === '"' ? take(STRING) : null
    if (string !== null) return ['string', string]
    const slashed = char === '/' ? take(COMMENT) : null
    if (slashed !== null) return ['comment', slashed]
    const regex = char === '/' && BEFORE_REGEX.test(last) ? take(REGEX) : null
    if (regex !== null) return ['regex', regex]
    const number = take(NUMBER)
    return number === null ? ['mark', take(MARK) ?? char] : ['number', number]
  }
  const push = (kind: Token['kind'], found: string): void => {
    tokens.push({ kind, text: found, line, isApart })
    if (kind !== 'comment') last = found
    isApart = kind === 'comment'
    line += found.split('\n').length - 1
    at += found.length
  }
  while (at < text.length) {
    const space = take(SPACE)
    if (space !== null) {
      line += space.split('\n').length - 1
      at += space.length
      isApart = true
      continue
    }
    const [kind, found] = next()
    push(kind, found)
  }
  return tokens
}

/** Index after the template that begins at `start`; templates inside its places are skipped with it. */
function templateEnd(text: string, start: number): number {
  let depth = 0
  for (let at = start + 1; at < text.length; at++) {
    const char = text[at]
    if (char === '\\') at++
    else if (depth === 0 && char === '`') return at + 1
    else if (char === '$' && text[at + 1] === '{') (depth++, at++)
    else if (depth > 0 && char === '{') depth++
    else if (depth > 0 && char === '}') depth--
    else if (depth > 0 && char === '`') at = templateEnd(text, at) - 1
  }
  return text.length
}

export interface Import {
  readonly specifier: string
  /** The clause between `import` or `export` and `from`; empty for a bare or a dynamic import. */
  readonly clause: string
  readonly isType: boolean
  readonly isReExport: boolean
  readonly line: number
}

/** Import and re-export statements and dynamic imports of a literal. */
export function importsOf(file: SourceFile): readonly Import[] {
  const found: Import[] = []
  const { tokens } = file
  tokens.forEach((token, index) => {
    if (token.kind !== 'word' || (token.text !== 'import' && token.text !== 'export')) return
    if (tokens[index - 1]?.text === '.') return
    const next = tokens[index + 1]
    if (token.text === 'import' && next?.text === '(') {
      const name = tokens[index + 2]
      if (name?.kind === 'string') found.push(statement(name, [], token))
      return
    }
    const clause: Token[] = []
    for (let at = index + 1; at < tokens.length; at++) {
      const part = tokens[at] as Token
      if (part.kind === 'string') {
        if (clause.length === 0 || clause.at(-1)?.text === 'from')
          found.push(statement(part, clause.slice(0, -1), token))
        return
      }
      // A declaration is exported, not a module: its first word, bracket or sign is not part of an import.
      if (!/^(?:[{},*]|[\p{L}_$][\p{L}\p{N}_$]*)$/u.test(part.text) || DECLARES.has(part.text)) return
      clause.push(part)
    }
  })
  return found
}

const DECLARES = new Set([
  'const',
  'let',
  'function',
  'class',
  'interface',
  'async',
  'abstract',
  'enum',
  'declare',
])

function statement(name: Token, clause: readonly Token[], keyword: Token): Import {
  return {
    specifier: name.text.slice(1, -1),
    clause: clause.map((part) => part.text).join(' '),
    isType: clause[0]?.text === 'type' && clause.length > 1,
    isReExport: keyword.text === 'export',
    line: keyword.line,
  }
}

export interface FunctionSpan {
  readonly line: number
  readonly lines: number
}

/** Every function, method and arrow with a body in braces, from the line of its parameters to its last. */
export function functionsOf(file: SourceFile): readonly FunctionSpan[] {
  const found: FunctionSpan[] = []
  const partner = pairs(file.tokens)
  file.tokens.forEach((token, index) => {
    if (token.text !== '{' || token.kind !== 'mark') return
    const start = headOf(file.tokens, index, partner)
    const end = file.tokens[partner.get(index) ?? index]
    if (start !== null && end !== undefined)
      found.push({ line: start.line, lines: end.line - start.line + 1 })
  })
  return found
}

/** Index of each bracket's partner, both ways. Angle brackets are left out: they also compare. */
function pairs(tokens: readonly Token[]): ReadonlyMap<number, number> {
  const partner = new Map<number, number>()
  const open: number[] = []
  tokens.forEach((token, index) => {
    if (token.kind !== 'mark') return
    if ('([{'.includes(token.text)) open.push(index)
    if (!')]}'.includes(token.text)) return
    const start = open.pop()
    if (start === undefined) return
    partner.set(start, index).set(index, start)
  })
  return partner
}

const CONTROLS = new Set(['if', 'for', 'while', 'switch', 'catch', 'with', 'await'])
const TYPE_STOPS = new Set([
  '=',
  ';',
  '{',
  'return',
  'class',
  'interface',
  'extends',
  'implements',
  'const',
  'let',
  'import',
  'export',
  'else',
  'do',
  'try',
  'finally',
  'case',
  '?',
  '(',
  '[',
])

/**
 * The token where the function begins whose body opens at `brace`, or null when the brace opens something
 * else.
 */
function headOf(tokens: readonly Token[], brace: number, partner: ReadonlyMap<number, number>): Token | null {
  const before = tokens[brace - 1]
  if (before?.text === '=>') {
    const close = brace - 2
    return tokens[tokens[close]?.text === ')' ? (partner.get(close) ?? close) : close] ?? null
  }
  const close = before?.text === ')' ? brace - 1 : parametersBeforeType(tokens, brace, partner)
  if (close === null) return null
  const open = partner.get(close)
  if (open === undefined) return null
  const name = tokens[open - 1]
  return name === undefined || CONTROLS.has(name.text) ? null : (tokens[open] ?? null)
}

/** Walks back over a return type; index of the `)` before its colon. */
function parametersBeforeType(
  tokens: readonly Token[],
  brace: number,
  partner: ReadonlyMap<number, number>,
): number | null {
  let at = brace - 1
  for (; at > 0; at--) {
    const token = tokens[at] as Token
    if (token.text === ':') break
    if (')]}'.includes(token.text) && token.kind === 'mark') at = partner.get(at) ?? 0
    else if (TYPE_STOPS.has(token.text)) return null
  }
  return at < brace - 1 && tokens[at]?.text === ':' && tokens[at - 1]?.text === ')' ? at - 1 : null
}

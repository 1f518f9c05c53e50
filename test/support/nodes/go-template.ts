/**
 * Renders templates of Helm as far as the chart of deploy/ uses them: actions, `if`, `with`, `range`, `define`,
 * pipelines, and functions that the caller gives. What is not known throws: nothing is left out in silence.
 */

export type Functions = Readonly<Record<string, (...values: readonly unknown[]) => unknown>>

/** The template of a file, and each that it defines, by their names. */
export type Templates = ReadonlyMap<string, readonly Part[]>

type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly words: readonly string[] }
  | {
      readonly kind: 'if' | 'with' | 'range'
      readonly words: readonly string[]
      readonly then: readonly Part[]
      readonly otherwise: readonly Part[]
    }

const ACTION = /\{\{(- )?\s*(\/\*[\s\S]*?\*\/|[\s\S]*?)\s*( -)?\}\}/g
const WORD =
  /"(?:\\.|[^"\\])*"|:=|[|(),]|\$?\.?[A-Za-z_][\w.]*|\$(?:\.[A-Za-z_][\w.]*)?|\.[A-Za-z_][\w.]*|\.|-?\d+|\S/g

/** The templates of a file: its own text under its name, and what it defines. */
export function parseTemplate(name: string, text: string): Templates {
  const found = new Map<string, readonly Part[]>()
  const tokens = tokensOf(text)
  found.set(name, partsOf(tokens, found))
  if (tokens.length > 0) throw new Error(`${name}: nothing is open that could end`)
  return found
}

type Token = string | { readonly words: readonly string[] }

/** Texts, and the words of each action; white space is cut where an action says so. */
function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  let [from, isCut] = [0, false]
  const say = (part: string): void => void (part !== '' && tokens.push(part))
  for (const { 0: all, 1: before, 2: inner = '', 3: behind, index } of text.matchAll(ACTION)) {
    const part = text.slice(from, index)
    const begun = isCut ? part.trimStart() : part
    say(before === undefined ? begun : begun.trimEnd())
    if (!inner.startsWith('/*')) tokens.push({ words: inner.match(WORD) ?? [] })
    ;[from, isCut] = [index + all.length, behind !== undefined]
  }
  const rest = text.slice(from)
  say(isCut ? rest.trimStart() : rest)
  return tokens
}

/** Takes tokens up to the `else` or `end` of another block, which stays, or to the last one. */
function partsOf(tokens: Token[], found: Map<string, readonly Part[]>): readonly Part[] {
  const parts: Part[] = []
  for (let token = tokens[0]; token !== undefined; token = tokens[0]) {
    const [first = '', ...rest] = typeof token === 'string' ? [] : token.words
    if (first === 'end' || first === 'else') return parts
    tokens.shift()
    if (typeof token === 'string') parts.push({ kind: 'text', text: token })
    else if (first === 'define') {
      found.set(JSON.parse(rest[0] ?? '') as string, partsOf(tokens, found))
      takeEnd(tokens)
    } else if (first === 'if' || first === 'with' || first === 'range') {
      parts.push(block(first, rest, { tokens, found }))
    } else parts.push({ kind: 'action', words: token.words })
  }
  return parts
}

function block(
  kind: 'if' | 'with' | 'range',
  words: readonly string[],
  { tokens, found }: { readonly tokens: Token[]; readonly found: Map<string, readonly Part[]> },
): Part {
  const then = partsOf(tokens, found)
  const token = tokens[0]
  const [first, second, ...rest] = typeof token === 'object' ? token.words : []
  if (first !== 'else') {
    takeEnd(tokens)
    return { kind, words, then, otherwise: [] }
  }
  tokens.shift()
  // `else if` has the `end` of the whole.
  if (second === 'if') return { kind, words, then, otherwise: [block('if', rest, { tokens, found })] }
  const otherwise = partsOf(tokens, found)
  takeEnd(tokens)
  return { kind, words, then, otherwise }
}

function takeEnd(tokens: Token[]): void {
  const token = tokens.shift()
  if (typeof token !== 'object' || token.words[0] !== 'end') throw new Error('a block does not end')
}

/** What the names of an expression mean where it stands. */
interface Scope {
  readonly dot: unknown
  readonly root: unknown
  readonly variables: Readonly<Record<string, unknown>>
}

/** Writes templates by their names, as `include` does. */
export class Renderer {
  readonly #templates: Templates
  readonly #functions: Functions

  constructor(templates: Templates, functions: Functions) {
    this.#templates = templates
    this.#functions = {
      ...functions,
      include: (name, dot) => this.render(String(name), dot),
    }
  }

  render(name: string, dot: unknown): string {
    const parts = this.#templates.get(name)
    if (parts === undefined) throw new Error(`there is no template ${name}`)
    return this.#write(parts, { dot, root: dot, variables: {} })
  }

  #write(parts: readonly Part[], scope: Scope): string {
    return parts.map((part) => this.#one(part, scope)).join('')
  }

  #one(part: Part, scope: Scope): string {
    if (part.kind === 'text') return part.text
    if (part.kind === 'action') return shown(this.#value(part.words, scope))
    const [names, words] = declared(part.words)
    if (names.length > 0 && part.kind !== 'range') throw new Error(`${part.kind} takes no name here`)
    const value = this.#value(words, scope)
    if (!isTrue(value)) return this.#write(part.otherwise, scope)
    if (part.kind === 'if') return this.#write(part.then, scope)
    if (part.kind === 'with') return this.#write(part.then, { ...scope, dot: value })
    return entriesOf(value)
      .map(([key, item]) => {
        const given = names.length === 2 ? [key, item] : [item]
        const variables = Object.fromEntries(names.map((name, nth) => [name, given[nth]]))
        return this.#write(part.then, {
          ...scope,
          dot: item,
          variables: { ...scope.variables, ...variables },
        })
      })
      .join('')
  }

  /** A pipeline: the value of each command is the last argument of the next. */
  #value(words: readonly string[], scope: Scope): unknown {
    return commandsOf(words).reduce<readonly unknown[]>(
      (before, command) => [this.#command(command, before, scope)],
      [],
    )[0]
  }

  #command(words: readonly string[], before: readonly unknown[], scope: Scope): unknown {
    const [first = '', ...rest] = words
    if (!/^[A-Za-z]/.test(first) || Object.hasOwn(LITERALS, first)) {
      const terms = this.#terms(words, scope)
      if (terms.length !== 1 || before.length > 0) throw new Error(`no function: ${words.join(' ')}`)
      return terms[0]
    }
    const call = Object.hasOwn(this.#functions, first) ? this.#functions[first] : undefined
    if (call === undefined) throw new Error(`there is no function ${first}`)
    return call(...this.#terms(rest, scope), ...before)
  }

  #terms(words: readonly string[], scope: Scope): readonly unknown[] {
    const terms: unknown[] = []
    for (let at = 0; at < words.length; at++) {
      const word = words[at] ?? ''
      if (word !== '(') {
        terms.push(termOf(word, scope))
        continue
      }
      const end = closing(words, at)
      terms.push(this.#value(words.slice(at + 1, end), scope))
      at = end
    }
    return terms
  }
}

const LITERALS: Readonly<Record<string, unknown>> = { true: true, false: false, nil: null }

function termOf(word: string, { dot, root, variables }: Scope): unknown {
  if (word.startsWith('"')) return JSON.parse(word)
  if (/^-?\d+$/.test(word)) return Number(word)
  if (Object.hasOwn(LITERALS, word)) return LITERALS[word]
  const [, begin = '', path = ''] = /^(\$\w*)?((?:\.\w+)*|\.)$/.exec(word) ?? []
  if (begin === '' && path === '') throw new Error(`no term: ${word}`)
  if (begin.length > 1 && !Object.hasOwn(variables, begin)) throw new Error(`no variable ${begin}`)
  const from = begin === '' ? dot : begin === '$' ? root : variables[begin]
  return path
    .split('.')
    .filter((name) => name !== '')
    .reduce<unknown>((value, name) => {
      if (typeof value !== 'object' || value === null) throw new Error(`${word}: nothing has ${name}`)
      return Object.hasOwn(value, name) ? Reflect.get(value, name) : null
    }, from)
}

/** Names in front of `:=`, and what follows. */
function declared(words: readonly string[]): readonly [readonly string[], readonly string[]] {
  const at = words.indexOf(':=')
  return at < 0 ? [[], words] : [words.slice(0, at).filter((word) => word !== ','), words.slice(at + 1)]
}

/** Parts of a pipeline between bars outside of parentheses. */
function commandsOf(words: readonly string[]): readonly (readonly string[])[] {
  const commands: string[][] = [[]]
  let depth = 0
  for (const word of words) {
    if (word === '(') depth++
    if (word === ')') depth--
    if (word === '|' && depth === 0) commands.push([])
    else commands.at(-1)?.push(word)
  }
  return commands
}

function closing(words: readonly string[], open: number): number {
  let depth = 0
  for (let at = open; at < words.length; at++) {
    if (words[at] === '(') depth++
    if (words[at] === ')' && --depth === 0) return at
  }
  throw new Error(`a parenthesis stays open: ${words.join(' ')}`)
}

/** As Go sees it: what is empty is false. */
export function isTrue(value: unknown): boolean {
  if (typeof value === 'object' && value !== null) return entriesOf(value).length > 0
  return value !== undefined && value !== null && value !== false && value !== 0 && value !== ''
}

/** Entries of a map in the order of its keys, as Go walks it, or of a list. */
function entriesOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, nth) => [nth, item])
  if (typeof value !== 'object' || value === null) throw new Error('nothing to walk over')
  return Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
}

/** Helm writes nothing for what is not there. */
function shown(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'object') throw new Error('a map or a list is no text')
  return String(value)
}

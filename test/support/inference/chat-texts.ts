/**
 * Random bodies of chats as texts, in forms that no encoder writes, and their members as they were written.
 */

/** A member as it is written. */
export interface WrittenMember {
  readonly name: string
  /** With its quotes and its escapes. */
  readonly key: string
  readonly value: string
}

export interface WrittenBody {
  readonly text: string
  readonly members: readonly WrittenMember[]
}

/** Figures below 1 that depend on the seed alone. */
export function randomOf(seed: number): () => number {
  let state = (seed + 0x9e3779b9) | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const TEXTS = [
  '',
  'a',
  '😀',
  'é',
  '1e400',
  '\\"',
  '\\\\',
  '\\u005f',
  '\\ud83d\\ude00',
  '{"model":1}',
  '],[',
  '\\n',
  '\u2028',
]
const SCALARS = ['1.0', '-0', '1e5', '0', '1', 'true', 'false', 'null', '12345678901234567890', '""']
const SPACES = ['', '', '', ' ', '\n', '\t\r\n ', '  ']
const UNKNOWN = ['service_tier', 'enable_thinking', 'x', '', 'é', '__proto__', 'modell', 'include_usage', '1']
const OURS = [
  'models',
  'provider',
  'preset',
  'route',
  'transforms',
  'usage',
  'session_id',
  'trace',
  'debug',
  'plugins',
]
const FOREIGN = [
  'top_k',
  'top_a',
  'min_p',
  'repetition_penalty',
  'include_reasoning',
  'image_config',
  'cache_control',
]

/** Writes bodies that the shape of a chat takes. */
export class ChatTexts {
  readonly #random: () => number

  constructor(seed: number) {
    this.#random = randomOf(seed)
  }

  body(): WrittenBody {
    const members: WrittenMember[] = []
    const add = (name: string, value: string): void => void members.push(this.#member(name, value))
    for (const name of ['model', 'messages'] as const) {
      if (this.#is(0.1)) add(name, this.#valueOf(name))
      add(name, this.#valueOf(name))
    }
    const others = [
      ...UNKNOWN,
      ...OURS,
      ...FOREIGN,
      'stream_options',
      'max_tokens',
      'reasoning',
      'reasoning_effort',
      'tools',
    ]
    for (let count = this.#below(8); count > 0; count--) {
      const name = this.#one(others)
      add(name, this.#valueOf(name))
    }
    for (let at = members.length - 1; at > 0; at--) {
      const other = this.#below(at + 1)
      const [a, b] = [members[at], members[other]]
      if (a !== undefined && b !== undefined) [members[at], members[other]] = [b, a]
    }
    const written = members.map(
      ({ key, value }) => `${this.#space()}${key}${this.#space()}:${this.#space()}${value}${this.#space()}`,
    )
    return { text: `${this.#space()}{${written.join(',')}}${this.#space()}`, members }
  }

  #valueOf(name: string): string {
    switch (name) {
      case 'model':
        return this.#one(['"a/b"', '"a\\u002fb"', '"😀"'])
      case 'preset':
        return this.#one(['"s"', '"\\u0073"', '"s@2"', 'null'])
      case 'messages':
        return this.#list(1 + this.#below(3), () => this.#message())
      case 'tools':
        return this.#list(this.#below(3), () => this.#tool())
      case 'models':
      case 'transforms':
        return this.#one(['null', '[]', '["a/b"]', '[ "x" , "y" ]'])
      case 'provider':
      case 'plugins':
        return 'null'
      case 'session_id':
        return this.#one(['"s"', 'null', '""'])
      case 'stream_options':
        return this.#one([
          'null',
          this.#object([['other', this.#any()]]),
          this.#object([
            ['include_usage', this.#one(['true', 'false'])],
            ['other', this.#any()],
          ]),
          this.#object([]),
          this.#object([['__proto__', '1']]),
        ])
      case 'max_tokens':
        return this.#one(['null', '1', '4096'])
      case 'reasoning_effort':
        return this.#one(['null', '"low"', '"high"'])
      case 'reasoning':
        return this.#one([
          'null',
          '{}',
          this.#object([
            ['effort', '"low"'],
            ['max_tokens', '5'],
          ]),
          this.#object([['exclude', 'false']]),
          this.#object([
            ['enabled', 'true'],
            ['effort', '"high"'],
          ]),
          this.#object([['constructor', '1']]),
        ])
      default:
        return this.#any()
    }
  }

  #message(): string {
    const role = this.#one(['user', 'assistant', 'system', 'tool'])
    const parts = (): string =>
      this.#list(this.#below(3), () =>
        this.#object([
          ['type', '"text"'],
          ['text', this.#text()],
          ...this.#extras(['cache_control', 'prompt_cache_breakpoint', 'reasoning', 'x']),
        ]),
      )
    const members: [string, string][] = [
      ['role', this.#is(0.1) ? `"${role.replace('a', '\\u0061')}"` : `"${role}"`],
      ['content', this.#is(0.5) ? this.#text() : parts()],
      ...this.#extras([
        'cache_control',
        'prompt_cache_breakpoint',
        'reasoning',
        'reasoning_details',
        'reasoning_content',
        'name',
      ]),
    ]
    if (role === 'tool') members.push(['tool_call_id', '"c"'])
    return this.#object(members)
  }

  #tool(): string {
    const schema = this.#object([
      ['cache_control', '{"type":"string"}'],
      ['reasoning', '1'],
    ])
    return this.#object([
      ['type', '"function"'],
      [
        'function',
        this.#object([
          ['name', '"f"'],
          ['parameters', schema],
        ]),
      ],
      ...this.#extras(['cache_control', 'prompt_cache_breakpoint']),
    ])
  }

  #extras(names: readonly string[]): readonly [string, string][] {
    return names
      .filter(() => this.#is(0.25))
      .map((name) => [name, this.#one(['null', '{"type":"ephemeral"}', '[]', this.#any()])])
  }

  #any(): string {
    const kind = this.#below(6)
    if (kind < 3) return this.#one(SCALARS)
    if (kind === 3) return this.#text()
    if (kind === 4) return this.#list(this.#below(3), () => this.#one(SCALARS))
    return this.#object([
      ['cache_control', '1'],
      ['model', this.#text()],
    ])
  }

  #object(members: readonly (readonly [string, string])[]): string {
    const shuffled = members.map((member) => ({ member, at: this.#random() })).sort((a, b) => a.at - b.at)
    const written = shuffled.map(({ member: [name, value] }) => {
      const { key } = this.#member(name, value)
      return `${this.#space()}${key}${this.#space()}:${this.#space()}${value}${this.#space()}`
    })
    return `{${written.length === 0 ? this.#space() : written.join(',')}}`
  }

  #list(count: number, element: () => string): string {
    const elements = Array.from({ length: count }, () => `${this.#space()}${element()}${this.#space()}`)
    return `[${elements.join(',')}]`
  }

  #member(name: string, value: string): WrittenMember {
    const key = this.#is(0.1) ? escaped(name, this.#random) : JSON.stringify(name)
    return { name, key, value }
  }

  #text(): string {
    return `"${Array.from({ length: this.#below(4) }, () => this.#one(TEXTS).replace(/^\{"model":1\}$/, '{\\"model\\":1}')).join('')}"`
  }

  #space(): string {
    return this.#one(SPACES)
  }

  #is(share: number): boolean {
    return this.#random() < share
  }

  #below(count: number): number {
    return Math.floor(this.#random() * count)
  }

  #one(values: readonly string[]): string {
    return values[this.#below(values.length)] ?? ''
  }
}

/** Some letters of the name as escapes, in either case of their digits. */
function escaped(name: string, random: () => number): string {
  const letters = Array.from({ length: name.length }, (_, at) => {
    const digits = name.charCodeAt(at).toString(16).padStart(4, '0')
    if (random() < 0.5) return name.charAt(at)
    return `\\u${random() < 0.5 ? digits : digits.toUpperCase()}`
  })
  return `"${letters.join('')}"`
}

/** The members of the outermost object as they are written, by a reader of its own. */
export function writtenMembers(text: string): readonly Omit<WrittenMember, 'name'>[] {
  const inner = text.trim().slice(1, -1)
  if (inner.trim() === '') return []
  return topParts(inner, ',').map((member) => {
    const [key = '', ...value] = topParts(member, ':')
    return { key: key.trim(), value: value.join(':').trim() }
  })
}

function topParts(text: string, separator: string): readonly string[] {
  const parts: string[] = []
  let [depth, from] = [0, 0]
  let isText = false
  for (let at = 0; at < text.length; at++) {
    const letter = text.charAt(at)
    if (isText) {
      if (letter === '\\') at++
      else if (letter === '"') isText = false
    } else if (letter === '"') isText = true
    else if ('[{'.includes(letter)) depth++
    else if (']}'.includes(letter)) depth--
    else if (letter === separator && depth === 0) {
      parts.push(text.slice(from, at))
      from = at + 1
    }
  }
  return [...parts, text.slice(from)]
}

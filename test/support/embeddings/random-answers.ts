/** Random embeddings answers: plain ones, odd ones that the scan must leave to a parser, and mutations. */

export interface RandomAnswer {
  readonly bytes: Buffer
  /** What is odd about it; null = plain, the scan must take it. A mutation may be valid by chance. */
  readonly oddity: string | null
}

export type Random = () => number

/** Mulberry32: small, fast, the same everywhere. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function randomAnswer(random: Random): RandomAnswer {
  const write = new Writer(random)
  const members = write.members()
  const kind = random()
  const plain = Buffer.from(write.object(members))
  if (kind < 0.4) return { bytes: plain, oddity: null }
  if (kind < 0.7) return { bytes: mutated(plain, write, random), oddity: 'a mutation' }
  const [name, bend] = write.pick(ODDITIES)
  return { bytes: Buffer.from(bend(members, write, random)), oddity: name }
}

/** Bytes that mean something to a reader of JSON, and some that never may stand in it. */
const MEANT = [
  ...'[]{}",:\\ \n\t0123456789+-.eEaftnu/=A',
  ...['\u0000', '\u001f', 'é', '99', '{}', '1e999', '\\q', '""'],
].map((text) => Buffer.from(text))
const BROKEN_UTF8 = [Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0xed, 0xa0, 0x80])]

/** One to three bytes put in, taken out or replaced, half of them within the first vector. */
function mutated(bytes: Buffer, write: Writer, random: Random): Buffer {
  let mutant = bytes
  for (let more = Math.floor(random() * 3); more >= 0; more--) {
    const vector = random() < 0.5 ? mutant.indexOf('"embedding":') + 12 : 0
    const at = vector + Math.floor(random() * Math.min(mutant.length - vector, vector === 0 ? Infinity : 200))
    const put = random() < 0.25 ? Buffer.alloc(0) : write.pick(random() < 0.9 ? MEANT : BROKEN_UTF8)
    mutant = Buffer.concat([mutant.subarray(0, at), put, mutant.subarray(at + Math.floor(random() * 2))])
  }
  return mutant
}

type Member = [key: string, value: string]

/** What fools a scanner that looks for names and brackets instead of reading the structure. */
const NASTY = [
  '"usage":{',
  '"usage":{"prompt_tokens":999}',
  '"data":[',
  ']',
  '}',
  '[',
  '{',
  '"',
  '\\',
  '\\"',
  '\\\\"',
  ',',
  ':',
  '}}}',
  ']]]',
  'data',
  'usage',
  '\n',
  '\u0000',
  'é',
  '漢字',
  '🙂',
  '\u2028',
  '","data":[]}',
  '"}],"usage":{"prompt_tokens":1}',
  'NaN',
  'null',
]

class Writer {
  readonly #random: Random

  constructor(random: Random) {
    this.#random = random
  }

  members(): Member[] {
    const count = 1 + Math.floor(this.#random() * 3)
    const isBase64 = this.#random() < 0.3
    const items = Array.from({ length: count }, (_, at) => this.item(String(at), isBase64))
    const members: Member[] = [['data', this.list(items)]]
    if (this.#random() < 0.9) members.push(['usage', this.usage()])
    if (this.#random() < 0.8) members.push(['model', this.string()])
    if (this.#random() < 0.5) members.push(['id', this.string()])
    if (this.#random() < 0.8) members.push(['object', '"list"'])
    for (let more = Math.floor(this.#random() * 3); more > 0; more--)
      members.push([`x${more}${this.pick(['', 'usage', 'data'])}`, this.value(0)])
    return this.#shuffled(members)
  }

  /** @param index JSON; null leaves it out */
  item(index: string | null, isBase64: boolean): string {
    const members: Member[] = [['object', '"embedding"']]
    if (index !== null) members.push(['index', index])
    members.push([
      'embedding',
      isBase64 ? `"${Buffer.from(this.#floats().buffer).toString('base64')}"` : this.numbers(),
    ])
    if (this.#random() < 0.2) members.push(['note', this.value(4)])
    return this.object(this.#shuffled(members))
  }

  usage(): string {
    const members: Member[] = [
      ['prompt_tokens', String(Math.floor(this.#random() * 1000))],
      ['total_tokens', '7'],
    ]
    if (this.#random() < 0.3) members.push(['details', this.value(4)])
    return this.object(members)
  }

  /** A few odd numbers, or many of which nearly all have the form of embeddings. */
  numbers(): string {
    const isLong = this.#random() < 0.25
    const length = isLong ? 20 + Math.floor(this.#random() * 60) : 1 + Math.floor(this.#random() * 12)
    const write = (): string =>
      isLong && this.#random() < 0.98
        ? (this.#random() - 0.5).toFixed(1 + this.#random() * 17)
        : this.number()
    return this.list(Array.from({ length }, write))
  }

  #floats(): Float32Array {
    return new Float32Array(1 + Math.floor(this.#random() ** 2 * 60)).map(() => this.#random() - 0.5)
  }

  number(): string {
    return this.pick([
      () => '0',
      () => '-0.0',
      () => String(this.#random() - 0.5),
      () => (this.#random() * 1e-9).toExponential(),
      () => '1E+3',
    ])()
  }

  string(): string {
    const parts = Array.from({ length: Math.floor(this.#random() * 4) }, () => this.pick(NASTY))
    const json = JSON.stringify(parts.join(this.pick(['', 'x', ' '])))
    return this.#random() < 0.1
      ? json.replace(/[a-z]/, (char) => `\\u00${char.charCodeAt(0).toString(16)}`)
      : json
  }

  /** Any value that stays within the depth that the scan follows. */
  value(depth: number): string {
    const kind = this.#random()
    if (depth >= 5 || kind < 0.35) return this.string()
    if (kind < 0.6) return this.pick(['true', 'false', 'null', '12', '-1.5e-3', '[]', '{}'])
    if (kind < 0.7) return this.numbers()
    const values = Array.from({ length: Math.floor(this.#random() * 4) }, () => this.value(depth + 1))
    return kind < 0.85
      ? this.list(values)
      : this.object(
          values.map((value, at) => [`${this.pick(['k', 'usage', 'data', 'embedding'])}${at || ''}`, value]),
        )
  }

  object(members: readonly Member[]): string {
    return `{${members.map(([key, value]) => `${this.space()}"${key}"${this.space()}:${this.space()}${value}${this.space()}`).join(',')}}`
  }

  list(items: readonly string[]): string {
    return `[${items.map((item) => `${this.space()}${item}${this.space()}`).join(',')}]`
  }

  space(): string {
    return this.#random() < 0.85 ? '' : this.pick([' ', '\n', '\t', '\r\n', '   '])
  }

  pick<T>(choices: readonly T[]): T {
    const chosen = choices[Math.floor(this.#random() * choices.length)]
    if (chosen === undefined) throw new Error('nothing to pick from')
    return chosen
  }

  #shuffled(members: Member[]): Member[] {
    for (let at = members.length - 1; at > 0; at--) {
      const other = Math.floor(this.#random() * (at + 1))
      const [a, b] = [members[at], members[other]]
      if (a !== undefined && b !== undefined) [members[at], members[other]] = [b, a]
    }
    return members
  }
}

type Bend = (members: Member[], write: Writer, random: Random) => string

const ODDITIES: readonly (readonly [string, Bend])[] = [
  ['escaped key', (members, write) => write.object([...members, ['us\\u0061ge', '{}']])],
  ['data twice', (members, write) => write.object([...members, ['data', '[]']])],
  ['usage twice', (members, write) => write.object([['usage', '{}'], ['usage', '{}'], ...members])],
  [
    'too deep',
    (members, write) => write.object([...members, ['deep', `${'[{"a":'.repeat(5)}1${'}]'.repeat(5)}`]]),
  ],
  [
    'a tail',
    (members, write) => `${write.object(members)}${write.pick(['x', '}', ']', '{}', '"', ',', '1'])}`,
  ],
  [
    'cut short',
    (members, write, random) => {
      const text = write.object(members)
      return text.slice(0, Math.floor(random() * text.length))
    },
  ],
  ['no data', (members, write) => write.object(members.filter(([key]) => key !== 'data'))],
  [
    'data of another type',
    (members, write) =>
      write.object(replaced(members, 'data', write.pick(['{}', '"x"', 'null', '[1,2]', '["a"]', '[]']))),
  ],
  [
    'usage of another type',
    (members, write) => {
      const others = members.filter(([key]) => key !== 'usage')
      return write.object([...others, ['usage', write.pick(['null', '[]', '"x"', '7'])]])
    },
  ],
  [
    'not a number among numbers',
    (members, write) => {
      const vectors = [
        '[1,NaN,2]',
        '[Infinity,1]',
        '[1,-Infinity]',
        '[1,null,2]',
        '[0.5,nan]',
        '[1,"2",3]',
        '[1,"]",3]',
        ...['[1,{,2]', '[1 2]', '[1,[2]', '[1,,2]', '[--1]', '[1.2.3]', '[1,true,2]', '[1e999,1]', '[01]'],
        ...[
          '[.5]',
          '[-]',
          '[1e]',
          '[1e+]',
          '[1-2]',
          '[+1]',
          '[1,]',
          '[,1]',
          '[0x1]',
          '[1_0]',
          '[1é]',
          '[1.]',
        ],
        ...['[1e5.2]', `[1${'0'.repeat(400)}]`, '[1\u00a02]', '["AAAA]', '"AAAA', '"AAA="', '"AA\nA"'],
        ...['"AA\\qAA"', '"AAAB AAA"'],
        ...['"AAAA\u0000AAA"', '"AAAAAAAé"', '"AADAfw=="', '"AACAfw=="', '"AAAAAB=="', '""', '"-_-_-_=="'],
      ]
      const vector = write.pick([...vectors, '[]', '[[1]]', '7'])
      return write.object(
        replaced(members, 'data', write.list([`{"object":"embedding","index":0,"embedding":${vector}}`])),
      )
    },
  ],
  [
    'an item without a vector',
    (members, write) => write.object(replaced(members, 'data', '[{"object":"embedding","index":0}]')),
  ],
  [
    'an index that is not the place of its item',
    (members, write) => {
      const indexes = write.pick<readonly (string | null)[]>([
        ...[
          [null],
          ['null'],
          ['"0"'],
          ['1'],
          ['-0'],
          ['-1'],
          ['00'],
          ['0.0'],
          ['0e0'],
          ['.0'],
          ['[0]'],
          ['true'],
        ],
        ...[
          ['0', null],
          ['1', '0'],
          ['0', '0'],
          ['0', '2'],
          ['0', '01'],
          ['0', '1.0'],
          ['0', '10'],
          ['0', '2', '1'],
        ],
        ['0', `1${'0'.repeat(400)}`],
      ])
      const items = indexes.map((index) => write.item(index, false))
      return write.object(replaced(members, 'data', write.list(items)))
    },
  ],
  [
    'two indexes of one item',
    (members, write) => {
      const item = write
        .item(write.pick(['0', '1', 'null']), false)
        .replace(/}$/, `,"index":${write.pick(['1', 'null'])}}`)
      return write.object(replaced(members, 'data', write.list([item])))
    },
  ],
  [
    'not an object',
    (_members, write) => write.pick(['[]', '"x"', '1', '', ' ', 'null', '\ufeff{}', '<html></html>']),
  ],
  ['a comma too many', (members, write) => write.object(members).replace(/}$/, ',}')],
]

function replaced(members: Member[], key: string, value: string): Member[] {
  return members.map((member) => (member[0] === key ? [key, value] : member))
}

/** JSON as callers may write it: every escape, any white space, numbers in each of their forms. */

/** A member: its name as a parser reads it, and its value as it is written. */
export type Written = readonly [name: string, json: string]

const NUMBERS = [
  '0',
  '-0',
  '1.0',
  '0.70',
  '-1E-400',
  '1.7976931348623157e308',
  '12345678901234567890',
  '1E+2',
  '0.1e1',
  '-7',
]
const CHARACTERS = [
  'a',
  'B',
  '7',
  ' ',
  'é',
  'ß',
  '漢',
  '😀',
  '𝔘',
  '\u2028',
  '\u007f',
  '{',
  '}',
  '[',
  ',',
  ':',
  '/',
]
const ESCAPES = ['\\"', '\\\\', '\\/', '\\b', '\\n', '\\t', '\\u0000', '\\u00e9', '\\ud83d\\ude00', '\\u0022']
const TEXTS = [
  '1e400',
  '1.0',
  '',
  'null',
  '\\"model\\":\\"other\\"',
  '\\\\',
  '\\\\\\"',
  ']}',
  '{\\"stream\\":false}',
]
const SPACES = ['', '', '', '', ' ', '\n', '\t', '\r\n  ']
const NAMES = [
  'x_é',
  '😀',
  '',
  '__proto__',
  'constructor',
  'toString',
  'x y',
  'model ',
  'x_\u0000',
  'content',
  '漢',
]
const DEPTH_MAX = 5
const WIDTH_MAX = 4
const CHARACTERS_MAX = 40

export class RawJson {
  /** A whole number from 0 to below `below`. */
  readonly random: (below: number) => number

  constructor(random: (below: number) => number) {
    this.random = random
  }

  /** True once in so many times. */
  once(times: number): boolean {
    return this.random(times) === 0
  }

  pick<T>(from: readonly T[]): T {
    const one = from[this.random(from.length)]
    if (one === undefined) throw new Error('there is nothing to pick from')
    return one
  }

  space(): string {
    return this.pick(SPACES)
  }

  /** A text with its quotes. */
  text(): string {
    if (this.once(4)) return `"${this.pick(TEXTS)}"`
    const length = this.random(CHARACTERS_MAX)
    return `"${Array.from({ length }, () => this.pick(this.once(3) ? ESCAPES : CHARACTERS)).join('')}"`
  }

  /** A text of about so many bytes. */
  long(bytes: number): string {
    const piece = `${this.text().slice(1, -1)} word 😀 \\n`
    return `"${piece.repeat(Math.ceil(bytes / Buffer.byteLength(piece)))}"`
  }

  number(): string {
    return this.pick(NUMBERS)
  }

  value(depth = 0): string {
    const kinds = depth < DEPTH_MAX ? 6 : 4
    switch (this.random(kinds)) {
      case 0:
        return this.number()
      case 1:
        return this.pick(['true', 'false', 'null'])
      case 4:
        return this.list(Array.from({ length: this.random(WIDTH_MAX) }, () => this.value(depth + 1)))
      case 5:
        return this.object(this.#members(depth + 1))
      default:
        return this.text()
    }
  }

  /** A value may stand as `messages`, whose items are refused when they repeat `content`. */
  #members(depth: number): readonly Written[] {
    const all = Array.from({ length: this.random(WIDTH_MAX) }, (): Written => [
      this.name(),
      this.value(depth),
    ])
    return all.filter(([name], at) => name !== 'content' || all.findIndex(([other]) => other === name) === at)
  }

  /** Of a member that no table knows. */
  name(): string {
    return this.once(3) ? this.pick(NAMES) : `x_${this.random(1_000)}`
  }

  list(elements: readonly string[]): string {
    return `[${this.space()}${elements.map((one) => `${one}${this.space()}`).join(`,${this.space()}`)}]`
  }

  object(members: readonly Written[]): string {
    const each = members.map(
      ([name, json]) => `${this.#key(name)}${this.space()}:${this.space()}${json}${this.space()}`,
    )
    return `{${this.space()}${each.join(`,${this.space()}`)}}`
  }

  shuffled<T>(all: readonly T[]): readonly T[] {
    const left = [...all]
    return all.flatMap(() => left.splice(this.random(left.length), 1))
  }

  /** Any letter of a name may be escaped. */
  #key(name: string): string {
    if (!this.once(8)) return JSON.stringify(name)
    const escaped = Array.from({ length: name.length }, (_, at) =>
      this.once(2) || name.charAt(at) < ' ' || '"\\'.includes(name.charAt(at))
        ? `\\u${name.charCodeAt(at).toString(16).padStart(4, '0')}`
        : name.charAt(at),
    )
    // Half of a pair that is not escaped has no bytes of its own.
    return /[\ud800-\udfff]/.test(escaped.join('')) ? JSON.stringify(name) : `"${escaped.join('')}"`
  }
}

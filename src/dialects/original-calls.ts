import type { NamedOrigin, ToolOrigin } from './prompt/prompt.ts'
import type { CalledTool, WrittenPart } from './parts.ts'
import { FREEFORM_INPUT } from './prompt/freeform-tools.ts'

/** Converts calls of substitute functions back to calls of the tools that the caller declared. */
export class OriginalCalls {
  readonly #origins: ReadonlyMap<string, ToolOrigin>
  /** Input of the call that is being written; null: its arguments are an object. */
  #input: FreeformInput | null = null

  constructor(origins: readonly NamedOrigin[]) {
    this.#origins = new Map(origins.map(({ called, origin }) => [called, origin]))
  }

  /** @param parts the next ones */
  of(parts: readonly WrittenPart[]): readonly WrittenPart[] {
    return parts.flatMap((part) => {
      if (part.kind === 'tool') return this.#called(part)
      if (part.kind !== 'arguments' || this.#input === null) return part
      const text = this.#input.add(part.text)
      return text === '' ? [] : { ...part, text }
    })
  }

  #called(part: CalledTool): WrittenPart {
    const origin = this.#origins.get(part.name)
    this.#input = origin?.isFreeform === true ? new FreeformInput() : null
    if (origin === undefined) return part
    const { name, namespace, isFreeform } = origin
    return {
      ...part,
      name,
      ...(namespace !== null && { namespace }),
      ...(isFreeform && { isFreeform }),
    }
  }
}

/** How arguments begin, without white space. */
const BEGIN = `{"${FREEFORM_INPUT}":"`

/** Places in BEGIN that white space may precede. */
const SPACED: ReadonlySet<number> = new Set([0, 1, BEGIN.length - 2, BEGIN.length - 1])

const SPACE = ' \t\n\r'

const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
])

/** A character by its number, as `\u00e9`. */
const NUMBERED = /^\\u([\dA-Fa-f]{4})$/

const NUMBERED_CHARS = 6

/**
 * The text in `{"input":"…"}`, as its fragments come. Arguments that begin otherwise are passed on unchanged,
 * since a model may have written something else.
 */
export class FreeformInput {
  #state: 'begin' | 'text' | 'other' | 'over' = 'begin'
  /** Characters of BEGIN that have been read. */
  #begun = 0
  /** The beginning of an incomplete escape. */
  #escape = ''

  /** @returns what the fragment adds to the text */
  add(json: string): string {
    let at = 0
    for (; this.#state === 'begin' && at < json.length; at++)
      if (!this.#begins(json.charAt(at))) return this.#other(json.slice(at))
    if (this.#state === 'other') return json
    let text = ''
    for (; this.#state === 'text' && at < json.length; at++) text += this.#inText(json.charAt(at))
    return text
  }

  #begins(unit: string): boolean {
    if (unit !== BEGIN[this.#begun]) return SPACED.has(this.#begun) && SPACE.includes(unit)
    if (++this.#begun === BEGIN.length) this.#state = 'text'
    return true
  }

  /** @param rest from the first character that differs from BEGIN */
  #other(rest: string): string {
    // An object without members has no text.
    const isEmpty = this.#begun === 1 && rest.startsWith('}')
    this.#state = isEmpty ? 'over' : 'other'
    return isEmpty ? '' : BEGIN.slice(0, this.#begun) + rest
  }

  #inText(unit: string): string {
    if (this.#escape !== '') return this.#escaped(unit)
    if (unit === '"') this.#state = 'over'
    else if (unit === '\\') this.#escape = unit
    else return unit
    return ''
  }

  #escaped(unit: string): string {
    const escape = this.#escape + unit
    const isOpen = escape[1] === 'u' && escape.length < NUMBERED_CHARS
    this.#escape = isOpen ? escape : ''
    if (isOpen) return ''
    const [, number] = NUMBERED.exec(escape) ?? []
    if (number !== undefined) return String.fromCharCode(Number.parseInt(number, 16))
    return escape[1] === 'u' ? escape : (ESCAPED.get(unit) ?? unit)
  }
}

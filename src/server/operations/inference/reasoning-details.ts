import { SIGNATURE_FORMATS } from '../../../dialects/signatures.ts'
import type { WrittenPart } from '../../../dialects/parts.ts'

type Reasoning = Extract<WrittenPart, { kind: 'reasoning' }>
type Signed = Extract<WrittenPart, { kind: 'signature' }>

/** An entry of `reasoning_details`, or a fragment of one: fragments of an entry have its `index`. */
export type ReasoningDetail = Readonly<Record<string, unknown>> & {
  readonly type: string
  readonly index: number
}

/**
 * The reasoning of one choice as OpenRouter's clients read it: each block an entry of its own, in order. The
 * mapping table of part D.
 */
export class ReasoningDetails {
  /** Entries so far. */
  #count = 0
  /** The entry that a text goes on with; null: none. */
  #open: 'reasoning.text' | 'reasoning.summary' | null = null
  #lastCall: string | null = null

  /** Called for each call of a tool: its signature names it. */
  called(id: string): void {
    this.#lastCall = id
  }

  text({ text, isSummary }: Reasoning): ReasoningDetail {
    const type = isSummary === true ? 'reasoning.summary' : 'reasoning.text'
    if (this.#open !== type) this.#count++
    this.#open = type
    return { type, [isSummary === true ? 'summary' : 'text']: text, index: this.#count - 1 }
  }

  signature({ signature: { format, data }, of }: Signed): ReasoningDetail {
    if (of === 'reasoning' && this.#isSigned(format)) {
      if (this.#open === null) this.#count++
      this.#open = null
      return { type: 'reasoning.text', text: '', signature: data, format, index: this.#count - 1 }
    }
    this.#open = null
    const id = of === 'call' ? this.#lastCall : null
    const named = id === null ? null : { id }
    return { type: 'reasoning.encrypted', data, ...named, format, index: this.#count++ }
  }

  /** The entry of a text has a member for its signature. Without a text only Anthropic's stands there. */
  #isSigned(format: string): boolean {
    return this.#open === 'reasoning.text' || (this.#open === null && format === SIGNATURE_FORMATS.messages)
  }
}

/** Puts a fragment to the entries of a whole answer. */
export function addDetail(details: ReasoningDetail[], fragment: ReasoningDetail): void {
  const last = details.at(-1)
  if (last?.index !== fragment.index) details.push(fragment)
  else details[details.length - 1] = joined(last, fragment)
}

function joined(last: ReasoningDetail, fragment: ReasoningDetail): ReasoningDetail {
  const texts = ['text', 'summary'].filter((name) => name in fragment)
  const text = texts.map((name) => [name, `${String(last[name] ?? '')}${String(fragment[name])}`])
  return { ...last, ...fragment, ...(Object.fromEntries(text) as object) }
}

import { statusOf, textOf, type Failure } from '../../schemas/failures.ts'
import type { TextRequest } from '../../schemas/inference/text-request.ts'
import type { CalledTool, ShownUsage, WrittenPart } from '../parts.ts'
import {
  SILENCE,
  type FailureFacts,
  type TextEvents,
  type Author,
  type TextHead,
  type WholeText,
} from '../answers.ts'
import { SIGNATURE_FORMATS } from '../prompt/signatures.ts'

const DONE = 'data: [DONE]\n\n'

/** The server-sent events of an answer of chat. */
export class ChatEvents implements TextEvents {
  readonly silence = SILENCE
  readonly #head: TextHead
  /** The caller asked for the usage in OpenAI's form: a separate event without choices. */
  readonly #isUsageAlone: boolean
  /** Begins every event. */
  #prefix: string
  /** Choices whose role was sent. */
  readonly #begun = new Map<number, BegunChoice>()
  /** Events of a chat provider were passed on; they contain what the provider reports. */
  #isPassed = false

  constructor(head: TextHead, { isUsageAlone }: Pick<TextRequest, 'isUsageAlone'>) {
    this.#head = head
    this.#prefix = prefixOf(head, null)
    this.#isUsageAlone = isUsageAlone
  }

  begin({ provider, model, createdS = this.#head.createdS }: Author): void {
    this.#prefix = prefixOf({ model, createdS, id: this.#head.id }, provider)
  }

  eventsOf(parts: readonly WrittenPart[]): Uint8Array {
    return Buffer.from(parts.map((part) => this.#textOf(part)).join(''))
  }

  passed(): void {
    this.#isPassed = true
  }

  lastOf({ whole, tier }: ShownUsage): Uint8Array {
    const choices = this.#isUsageAlone ? '[]' : `[${choice(0, '{"role":"assistant","content":""}')}]`
    const reported = tier === undefined || this.#isPassed ? '' : `,"service_tier":${JSON.stringify(tier)}`
    return Buffer.from(`${this.#prefix}${choices}${reported},"usage":${whole}}\n\n${DONE}`)
  }

  failureOf(failure: Failure, { statuses, requestId }: FailureFacts): Uint8Array {
    const code = statusOf(failure.name, statuses)
    const metadata = {
      error_type: failure.name,
      provider_name: failure.metadata?.provider_name ?? null,
      request_id: requestId,
    }
    const error = { code, message: textOf(failure), type: failure.name, metadata }
    const choices = '[{"index":0,"delta":{"content":""},"finish_reason":"error"}]'
    return Buffer.from(`${this.#prefix}${choices},"error":${JSON.stringify(error)}}\n\n`)
  }

  #textOf(part: WrittenPart): string {
    const index = part.choice
    const known = this.#begun.get(index)
    if (known !== undefined) return this.#chunk(choiceOf(part, known))
    const begun: BegunChoice = { calls: new CallFragments(), details: new ReasoningDetails() }
    this.#begun.set(index, begun)
    return (
      this.#chunk(choice(index, '{"role":"assistant","content":""}')) + this.#chunk(choiceOf(part, begun))
    )
  }

  #chunk(choices: string): string {
    return `${this.#prefix}[${choices}]}\n\n`
  }
}

interface BegunChoice {
  readonly calls: CallFragments
  readonly details: ReasoningDetails
}

function choiceOf(part: WrittenPart, begun: BegunChoice): string {
  const { choice: index } = part
  switch (part.kind) {
    case 'text':
      return choice(index, `{"content":${JSON.stringify(part.text)}}`)
    case 'refusal':
      return choice(index, `{"refusal":${JSON.stringify(part.text)}}`)
    case 'reasoning': {
      const { text: reasoning } = part
      return choice(index, JSON.stringify({ reasoning, reasoning_details: [begun.details.text(part)] }))
    }
    case 'signature':
      return choice(index, JSON.stringify({ reasoning_details: [begun.details.signature(part)] }))
    case 'tool':
      begun.details.called(part.id)
      return choice(index, begun.calls.begin(part))
    case 'arguments':
      return choice(index, begun.calls.add(part.text))
    case 'finish': {
      const native = JSON.stringify(part.native)
      return `{"index":${index},"delta":{},"finish_reason":"${part.reason}","native_finish_reason":${native}}`
    }
    default:
      return part satisfies never
  }
}

/** @param provider null: no endpoint has answered */
function prefixOf({ id, createdS: created, model }: TextHead, provider: string | null): string {
  const named = provider === null ? null : { provider }
  const begin = JSON.stringify({ id, object: 'chat.completion.chunk', created, model, ...named })
  return `data: ${begin.slice(0, -1)},"choices":`
}

function choice(index: number, delta: string): string {
  return `{"index":${index},"delta":${delta},"finish_reason":null}`
}

interface Message {
  text: string
  refusal: string
  reasoning: string
  readonly details: ReasoningDetails
  readonly reasoningDetails: ReasoningDetail[]
  readonly tools: { readonly call: CalledTool; text: string }[]
  finish: string
  native: string
}

export class WholeChat implements WholeText {
  readonly #head: TextHead
  readonly #choices = new Map<number, Message>()
  #provider = ''
  #model = ''

  constructor(head: TextHead) {
    this.#head = head
  }

  begin({ provider, model }: Author): void {
    this.#provider = provider
    this.#model = model
  }

  add(part: WrittenPart): void {
    const message = this.#messageOf(part.choice)
    switch (part.kind) {
      case 'text':
        message.text += part.text
        return
      case 'refusal':
        message.refusal += part.text
        return
      case 'reasoning':
        message.reasoning += part.text
        addDetail(message.reasoningDetails, message.details.text(part))
        return
      case 'signature':
        addDetail(message.reasoningDetails, message.details.signature(part))
        return
      case 'tool':
        message.details.called(part.id)
        message.tools.push({ call: part, text: '' })
        return
      case 'arguments': {
        const last = message.tools.at(-1)
        if (last !== undefined) last.text += part.text
        return
      }
      case 'finish':
        message.finish = part.reason
        message.native = part.native
        return
      default:
        part satisfies never
    }
  }

  answer({ whole, tier }: ShownUsage): object {
    const { id, createdS: created } = this.#head
    const usage: unknown = JSON.parse(whole)
    const [provider, model] = [this.#provider, this.#model]
    const choices = [...this.#choices].map(([index, message]) => ({
      index,
      finish_reason: message.finish,
      native_finish_reason: message.native,
      message: messageOf(message),
    }))
    const object = 'chat.completion'
    const reported = tier === undefined ? null : { service_tier: tier }
    // Validating clients require the member and accept null.
    return { id, object, created, model, provider, ...reported, system_fingerprint: null, choices, usage }
  }

  #messageOf(index: number): Message {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const made: Message = {
      text: '',
      refusal: '',
      reasoning: '',
      details: new ReasoningDetails(),
      reasoningDetails: [],
      tools: [],
      finish: 'stop',
      native: 'stop',
    }
    this.#choices.set(index, made)
    return made
  }
}

function messageOf({ text, refusal, reasoning, reasoningDetails, tools }: Message): object {
  const calls = tools.map((tool) => wholeCall(tool.call, tool.text))
  return {
    role: 'assistant',
    content: text === '' && (calls.length > 0 || refusal !== '') ? null : text,
    ...(refusal === '' ? null : { refusal }),
    ...(reasoning === '' ? null : { reasoning }),
    ...(reasoningDetails.length === 0 ? null : { reasoning_details: reasoningDetails }),
    ...(calls.length === 0 ? null : { tool_calls: calls }),
  }
}

/** The tool calls of a streamed chat message, as fragments. */
export class CallFragments {
  #count = 0
  #isFreeform = false

  /** JSON of the delta that begins a call. */
  begin(call: CalledTool): string {
    this.#isFreeform = call.isFreeform === true
    return deltaOf({ index: this.#count++, ...wholeCall(call, '') })
  }

  /** JSON of the delta with the next fragment of its arguments or text. */
  add(text: string): string {
    const member = this.#isFreeform ? { custom: { input: text } } : { function: { arguments: text } }
    return deltaOf({ index: Math.max(0, this.#count - 1), ...member })
  }
}

/** A call of a message of chat. @param text its arguments, or its text */
export function wholeCall({ id, name, isFreeform }: CalledTool, text: string): object {
  return isFreeform === true
    ? { id, type: 'custom', custom: { name, input: text } }
    : { id, type: 'function', function: { name, arguments: text } }
}

function deltaOf(call: object): string {
  return JSON.stringify({ tool_calls: [call] })
}

type Reasoning = Extract<WrittenPart, { kind: 'reasoning' }>

type Signed = Extract<WrittenPart, { kind: 'signature' }>

/** An entry of `reasoning_details`, or a fragment of one: fragments of an entry have its `index`. */
export type ReasoningDetail = Readonly<Record<string, unknown>> & {
  readonly type: string
  readonly index: number
}

/**
 * The reasoning of one choice as OpenRouter's clients read it: each block is a separate entry, in order.
 * Source: the mapping table of part D.
 */
export class ReasoningDetails {
  /** Entries so far. */
  #count = 0
  /** The type of the open entry, which further text continues; null: no entry is open. */
  #open: 'reasoning.text' | 'reasoning.summary' | null = null
  #lastCall: string | null = null

  /** Called for each tool call: a signature names its call by this id. */
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

  /** The entry of a text has a member for its signature. Without a text, only Anthropic's signature is written in it. */
  #isSigned(format: string): boolean {
    return this.#open === 'reasoning.text' || (this.#open === null && format === SIGNATURE_FORMATS.messages)
  }
}

/** Adds a fragment to the entries of a whole answer. */
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

/** Clients of chat under one form, so that each scenario runs with each of them. */

/** One call: what the caller asks for, in no client's words. */
export interface Ask {
  readonly model: string
  readonly prompt: string
  readonly isStream: boolean
  /** A picture next to the prompt, as a data URL. */
  readonly image?: string
  /** The model may call `look`, which takes a city. */
  readonly hasTool?: boolean
  /** The model must call `look`. */
  readonly mustCall?: boolean
  /** Runs `look`: the client sends the result back, and the model answers. */
  readonly look?: (city: string) => string
  /** The answer is JSON of this schema. */
  readonly schema?: object
  readonly effort?: 'low'
  readonly signal?: AbortSignal
  /** Called with all text so far, at each piece of it. */
  readonly onText?: (text: string) => void
}

/** What the client made of the answer. */
export interface Seen {
  readonly text: string
  readonly reasoning: string
  readonly calls: readonly SeenCall[]
  /** In the client's own word. */
  readonly finish: string | null
  readonly tokens: number | null
  /** The error that the client raised, or reported in the stream. */
  readonly error: SeenError | null
}

export interface SeenCall {
  readonly name: string
  /** The city, or the text that the built-in model gives in its place. */
  readonly argument: string
}

export interface SeenError {
  readonly status: number | null
  readonly text: string
}

export interface ChatClient {
  readonly name: string
  /** Whether the client gives its user the reasoning of a model in chat. */
  readonly readsReasoning: boolean
  /** Whether it sends signed reasoning back in the second step of a tool call. */
  readonly replaysReasoning: boolean
  /** Never rejects: `error` has what went wrong. */
  ask(ask: Ask): Promise<Seen>
}

/** Collects what a client gives, also where it then raises. */
export class Collected {
  text = ''
  reasoning = ''
  finish: string | null = null
  tokens: number | null = null
  error: SeenError | null = null
  readonly calls: SeenCall[] = []
  readonly #fragments = new Map<number, { name: string; json: string }>()
  readonly #onText: ((text: string) => void) | undefined

  constructor({ onText }: Ask) {
    this.#onText = onText
  }

  add(text: string | null | undefined): void {
    if (text === null || text === undefined || text === '') return
    this.text += text
    this.#onText?.(this.text)
  }

  think(text: string | null | undefined): void {
    this.reasoning += text ?? ''
  }

  called(name: string, input: unknown): void {
    const read: unknown = typeof input === 'string' ? JSON.parse(input) : input
    const { city, text } = read as { readonly city?: unknown; readonly text?: unknown }
    this.calls.push({ name, argument: String(city ?? text) })
  }

  /** A piece of a tool call; `finished` joins the pieces. */
  fragment(index: number, name: string | undefined, json: string | undefined): void {
    const known = this.#fragments.get(index) ?? { name: '', json: '' }
    this.#fragments.set(index, { name: known.name + (name ?? ''), json: known.json + (json ?? '') })
  }

  failed(error: unknown): void {
    this.error ??= seenError(error)
  }

  finished(): Seen {
    if (this.error === null) for (const { name, json } of this.#fragments.values()) this.called(name, json)
    return this
  }
}

export function seenError(error: unknown): SeenError {
  const { status, statusCode, code, message, lastError } = error as Readonly<Record<string, unknown>>
  // `ai` wraps what it has tried more than once.
  if (lastError !== undefined) return seenError(lastError)
  const reported = [status, statusCode, code].find((one) => typeof one === 'number')
  return { status: typeof reported === 'number' ? reported : null, text: String(message ?? error) }
}

export const LOOK = {
  name: 'look',
  description: 'Looks at a city.',
  parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
} as const

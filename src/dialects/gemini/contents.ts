import { geminiUserPart, type GeminiPart } from '../../schemas/inference/forms/gemini/gemini-media.ts'
import { geminiModelParts } from '../../schemas/inference/forms/gemini/gemini-model-parts.ts'
import { geminiModel } from './models.ts'
import { geminiResult, strayResult } from '../../schemas/inference/forms/gemini/gemini-results.ts'
import { laterSystemText } from '../../schemas/inference/forms/later-system.ts'
import type { PromptCall, PromptText, Turn } from '../prompt.ts'
import type { WriteTerms } from '../write-terms.ts'

type ModelTurn = Extract<Turn, { readonly role: 'assistant' }>
type SystemTurn = Extract<Turn, { readonly role: 'system' }>
type UserTurn = Exclude<Turn, ModelTurn>

/** Google refuses calls of the model that nothing comes before, and a request without contents. */
const OPENING: Content = { role: 'user', parts: [{ text: '.' }] }

export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly GeminiPart[]
}

export interface WrittenContents {
  /** Empty: the prompt has no text of the system. */
  readonly system: readonly GeminiPart[]
  readonly contents: readonly Content[]
  /** A signature of another provider was left out. */
  readonly isReasoningDropped: boolean
}

/** The turns as contents whose roles alternate. */
export function geminiContents(turns: readonly Turn[], terms: WriteTerms): WrittenContents {
  const first = turns.findIndex(({ role }) => role !== 'system')
  const head = (first === -1 ? turns : turns.slice(0, first)) as readonly SystemTurn[]
  const system = head.flatMap(({ parts }) => textsOf(parts))
  const writer = new ContentsWriter(terms)
  for (const run of runsOf(turns.slice(head.length))) writer.take(run)
  const { contents, isReasoningDropped } = writer
  // Google answers no prompt that has a text of the system alone.
  if (contents.length === 0)
    return {
      system: [],
      contents: [system.length === 0 ? OPENING : { role: 'user', parts: system }],
      isReasoningDropped,
    }
  return { system, contents: opened(contents), isReasoningDropped }
}

function opened(contents: readonly Content[]): readonly Content[] {
  const [first] = contents
  const isCall = first?.role === 'model' && first.parts.some((part) => 'functionCall' in part)
  return isCall ? [OPENING, ...contents] : contents
}

function textsOf(parts: readonly PromptText[]): readonly { readonly text: string }[] {
  return parts.filter(({ text }) => text !== '').map(({ text }) => ({ text }))
}

type Run =
  | { readonly role: 'model'; readonly turns: readonly ModelTurn[] }
  | { readonly role: 'user'; readonly turns: readonly UserTurn[] }

/** Turns of one side that follow each other. */
function runsOf(turns: readonly Turn[]): readonly Run[] {
  const runs: ({ role: 'model'; turns: ModelTurn[] } | { role: 'user'; turns: UserTurn[] })[] = []
  for (const turn of turns) {
    const last = runs.at(-1)
    if (turn.role === 'assistant') {
      if (last?.role === 'model') last.turns.push(turn)
      else runs.push({ role: 'model', turns: [turn] })
    } else if (last?.role === 'user') last.turns.push(turn)
    else runs.push({ role: 'user', turns: [turn] })
  }
  return runs
}

interface OpenContent extends Content {
  readonly parts: GeminiPart[]
}

/** Places of the calls with one id, of which those before `next` have their result. */
interface Places {
  readonly all: number[]
  next: number
}

class ContentsWriter {
  readonly contents: OpenContent[] = []
  isReasoningDropped = false
  readonly #terms: WriteTerms
  readonly #isThird: boolean
  /** Of the model's last content; null: the result has come. */
  #calls: (PromptCall | null)[] = []
  /** Their places that wait for a result, by id. */
  readonly #places = new Map<string, Places>()

  constructor(terms: WriteTerms) {
    this.#terms = terms
    this.#isThird = geminiModel(terms.upstreamModel).isThird
  }

  take({ role, turns }: Run): void {
    const parts = role === 'model' ? this.#modelParts(turns) : this.#userParts(turns)
    const last = this.contents.at(-1)
    if (parts.length === 0) return
    // What stood between the two had no content.
    if (last?.role !== role) this.contents.push({ role, parts: [...parts] })
    else for (const part of parts) last.parts.push(part)
  }

  #modelParts(turns: readonly ModelTurn[]): readonly GeminiPart[] {
    const written = turns.flatMap(({ parts }) => parts)
    const { signatureFormats } = this.#terms
    const { parts, isReasoningDropped } = geminiModelParts(written, {
      signatureFormats,
      isSigned: this.#isThird,
    })
    if (isReasoningDropped) this.isReasoningDropped = true
    const calls = written.filter((part) => part.kind === 'call')
    const isMerged = this.contents.at(-1)?.role === 'model'
    if (parts.length > 0 && !isMerged) this.#forget()
    if (parts.length > 0) for (const call of calls) this.#open(call)
    return parts
  }

  #forget(): void {
    this.#calls = []
    this.#places.clear()
  }

  #open(call: PromptCall): void {
    const at = this.#calls.push(call) - 1
    const places = this.#places.get(call.id)
    if (places === undefined) this.#places.set(call.id, { all: [at], next: 0 })
    else places.all.push(at)
  }

  /** Responses come first, in the order of their calls: place and name are all that tells them apart. */
  #userParts(turns: readonly UserTurn[]): readonly GeminiPart[] {
    const responses: { readonly at: number; readonly part: GeminiPart }[] = []
    const beside: GeminiPart[] = []
    const rest: GeminiPart[] = []
    for (const turn of turns) {
      const at = turn.role === 'tool' ? this.#placeOf(turn.callId) : -1
      const call = this.#calls[at] ?? null
      if (turn.role === 'tool' && call !== null) {
        const result = geminiResult(turn, call, this.#isThird)
        this.#calls[at] = null
        responses.push({ at, part: result.response })
        for (const part of result.beside) beside.push(part)
      } else for (const part of partsOf(turn)) rest.push(part)
    }
    responses.sort((one, other) => one.at - other.at)
    return [...responses.map(({ part }) => part), ...beside, ...rest]
  }

  /** The first call of this id that has no result yet; -1: none has. */
  #placeOf(callId: string): number {
    const places = this.#places.get(callId)
    return places?.all[places.next++] ?? -1
  }
}

function partsOf(turn: UserTurn): readonly GeminiPart[] {
  switch (turn.role) {
    case 'system':
      return textsOf(turn.parts).map(({ text }) => ({ text: laterSystemText(text) }))
    case 'user':
      return turn.parts.flatMap(geminiUserPart)
    case 'tool':
      return strayResult(turn)
  }
}

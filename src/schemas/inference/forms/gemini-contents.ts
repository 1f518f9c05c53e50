import { geminiUserPart, type GeminiPart } from './gemini-media.ts'
import { geminiModelParts } from './gemini-model-parts.ts'
import { geminiModel } from './gemini-models.ts'
import { geminiResult, strayResult } from './gemini-results.ts'
import { laterSystemText } from './later-system.ts'
import type { PromptCall, PromptText, Turn } from './prompt.ts'
import type { WriteTerms } from './write-terms.ts'

type ModelTurn = Extract<Turn, { readonly role: 'assistant' }>
type SystemTurn = Extract<Turn, { readonly role: 'system' }>
type UserTurn = Exclude<Turn, ModelTurn>

/** Google refuses calls of the model that nothing comes before. */
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
  if (contents.length === 0 && system.length > 0)
    return { system: [], contents: [{ role: 'user', parts: system }], isReasoningDropped }
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

class ContentsWriter {
  readonly contents: Content[] = []
  isReasoningDropped = false
  readonly #terms: WriteTerms
  readonly #isThird: boolean
  /** Of the model's last content; null: the result has come. */
  #calls: (PromptCall | null)[] = []
  /** Their places that wait for a result, by id. */
  readonly #places = new Map<string, number[]>()

  constructor(terms: WriteTerms) {
    this.#terms = terms
    this.#isThird = geminiModel(terms.upstreamModel).isThird
  }

  take({ role, turns }: Run): void {
    const parts = role === 'model' ? this.#modelParts(turns) : this.#userParts(turns)
    const last = this.contents.at(-1)
    if (parts.length === 0) return
    // What stood between the two had no content.
    if (last?.role === role)
      this.contents[this.contents.length - 1] = { role, parts: [...last.parts, ...parts] }
    else this.contents.push({ role, parts })
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
    if (parts.length > 0) this.#open(isMerged ? [...this.#calls, ...calls] : calls)
    return parts
  }

  #open(calls: (PromptCall | null)[]): void {
    this.#calls = calls
    this.#places.clear()
    for (const [at, call] of calls.entries()) {
      if (call === null) continue
      const places = this.#places.get(call.id)
      if (places === undefined) this.#places.set(call.id, [at])
      else places.push(at)
    }
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
    return this.#places.get(callId)?.shift() ?? -1
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

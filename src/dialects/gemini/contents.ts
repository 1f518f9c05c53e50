import type {
  PromptCall,
  PromptText,
  Turn,
  Media,
  PromptAudio,
  UserPart,
  AssistantPart,
  PromptReasoning,
  Signature,
} from '../prompt/prompt.ts'
import type { WriteTerms } from '../prompt/write-terms.ts'
import { laterSystemText } from '../prompt/write-terms.ts'
import { isTextDocument } from '../prompt/media.ts'
import { takenBack } from '../prompt/signatures.ts'
import { argumentsObject } from '../prompt/calls.ts'
import { geminiModel } from '../../schemas/models/openai-maker.ts'

type ModelTurn = Extract<Turn, { readonly role: 'assistant' }>
type SystemTurn = Extract<Turn, { readonly role: 'system' }>
type UserTurn = Exclude<Turn, ModelTurn>

/** Google refuses a conversation that begins with calls of the model, and a request without contents. */
const OPENING: Content = { role: 'user', parts: [{ text: '.' }] }

export interface Content {
  readonly role: 'user' | 'model'
  readonly parts: readonly GeminiPart[]
}

export interface WrittenContents {
  /** Empty: the prompt has no system text. */
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
  // Google refuses a prompt that contains only a system text.
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

/** Groups consecutive turns of the same side. */
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

/** Places of the calls with one id; those before `next` have their result. */
interface Places {
  readonly all: number[]
  next: number
}

class ContentsWriter {
  readonly contents: OpenContent[] = []
  isReasoningDropped = false
  readonly #terms: WriteTerms
  readonly #isThird: boolean
  /** Calls of the model's last content; null: the call has its result. */
  #calls: (PromptCall | null)[] = []
  /** Places of the calls that wait for a result, by id. */
  readonly #places = new Map<string, Places>()

  constructor(terms: WriteTerms) {
    this.#terms = terms
    this.#isThird = geminiModel(terms.upstreamModel).isThird
  }

  take({ role, turns }: Run): void {
    const parts = role === 'model' ? this.#modelParts(turns) : this.#userParts(turns)
    const last = this.contents.at(-1)
    if (parts.length === 0) return
    // The turns between two contents of the same role had no content.
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

  /** The responses first, in the order of their calls, since only place and name identify them. */
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

  /** The first call with this id that has no result yet; -1: none. */
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

type ToolTurn = Extract<Turn, { readonly role: 'tool' }>

export interface GeminiResult {
  /** `functionResponse` */
  readonly response: GeminiPart
  /** Media of the result; Google requires them after all responses. */
  readonly beside: readonly GeminiPart[]
}

/**
 * The result of a call, which Google identifies only by place and name.
 * @param mayNest the model takes media within the response
 */
export function geminiResult(turn: ToolTurn, { name }: PromptCall, mayNest: boolean): GeminiResult {
  const nested: GeminiPart[] = []
  const beside: GeminiPart[] = []
  for (const part of mediaOf(turn)) (mayNest && 'inlineData' in part ? nested : beside).push(part)
  const text = resultText(turn)
  const response = {
    name,
    response: turn.isError ? { error: text } : { output: text },
    ...(nested.length > 0 && { parts: nested }),
  }
  return { response: { functionResponse: response }, beside }
}

/** A result that answers no call of the conversation, which Google would refuse as a response. */
export function strayResult(turn: ToolTurn): readonly GeminiPart[] {
  return [{ text: `<tool_result>\n${resultText(turn)}\n</tool_result>` }, ...mediaOf(turn)]
}

function mediaOf({ parts }: ToolTurn): readonly GeminiPart[] {
  return parts.flatMap((part) => (part.kind === 'text' ? [] : geminiUserPart(part)))
}

function resultText({ parts }: ToolTurn): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}

export type GeminiPart = Readonly<Record<string, unknown>>

/** Media types by file extension, since an address has no media type. */
const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  pdf: 'application/pdf',
  txt: 'text/plain',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mpeg: 'video/mpeg',
}

/** Callers' names of sound formats that differ from the media subtype. */
const SOUNDS: Readonly<Record<string, string>> = { mp3: 'audio/mpeg', m4a: 'audio/mp4', pcm16: 'audio/pcm' }

/** A user part in Gemini's form; none when it has no content, or names a file that Google does not know. */
export function geminiUserPart(part: UserPart): readonly GeminiPart[] {
  switch (part.kind) {
    case 'text':
      return part.text === '' ? [] : [{ text: part.text }]
    case 'audio':
      return [{ inlineData: { mimeType: soundType(part), data: part.data } }]
    case 'image':
    case 'video':
    case 'file':
      return mediaPart(part.media)
  }
}

function mediaPart(media: Media): readonly GeminiPart[] {
  switch (media.kind) {
    case 'base64':
      return [{ inlineData: { mimeType: inlineType(media), data: media.data } }]
    case 'url':
      return [{ fileData: { ...typeOfUrl(media.url), fileUri: media.url } }]
    case 'file_id':
      return []
  }
}

/** Google accepts a text document only with a type that begins with `text/`. */
function inlineType(media: Extract<Media, { readonly kind: 'base64' }>): string {
  const isText = isTextDocument(media) && !media.mimeType.startsWith('text/')
  return isText ? 'text/plain' : media.mimeType
}

function soundType({ format }: PromptAudio): string {
  return Object.hasOwn(SOUNDS, format) ? (SOUNDS[format] ?? '') : `audio/${format}`
}

function typeOfUrl(url: string): { readonly mimeType?: string } {
  const end = /\.(\w{2,5})(?:[?#]|$)/.exec(url)?.[1]?.toLowerCase() ?? ''
  const mimeType = Object.hasOwn(TYPES, end) ? TYPES[end] : undefined
  return mimeType === undefined ? {} : { mimeType }
}

/**
 * Stands for the signature of a step that another model made: Gemini 3 refuses a step whose first call has no
 * signature. Google's page on thought signatures names it for that.
 */
const FOREIGN_SIGNATURE = 'skip_thought_signature_validator'

export interface ModelTerms {
  /** Formats of signatures that the endpoint accepts. */
  readonly signatureFormats: readonly string[]
  /** The first call of a step needs a signature. */
  readonly isSigned: boolean
}

export interface ModelParts {
  readonly parts: readonly GeminiPart[]
  /** A signature of another provider was left out. */
  readonly isReasoningDropped: boolean
}

/**
 * The output of a model, with the signatures where Google put them: on a call, on a text, or on an empty text
 * if the turn has none. A signature without its own reasoning belongs to a text; dialects keep it next to the
 * text, some of them before it.
 */
export function geminiModelParts(written: readonly AssistantPart[], terms: ModelTerms): ModelParts {
  const parts: GeminiPart[] = []
  let isReasoningDropped = false
  let waiting: Signature | null = null
  const add = (part: GeminiPart): void => {
    const mayTake = waiting !== null && 'text' in part && part['thought'] === undefined
    parts.push(mayTake ? { ...part, thoughtSignature: waiting?.data } : part)
    if (mayTake) waiting = null
  }
  const settle = (): void => {
    if (waiting !== null) parts.push({ text: '', thoughtSignature: waiting.data })
    waiting = null
  }
  for (const part of written) {
    const given = 'signature' in part ? part.signature : null
    const signature = takenBack(given, terms)
    if (given !== null && signature === null) isReasoningDropped = true
    if (isBare(part)) {
      if (signature === null || signOf(parts, signature)) continue
      settle()
      waiting = signature
    } else {
      const one = partOf(part, signature)
      if (one !== null) add(one)
    }
  }
  settle()
  return { parts: terms.isSigned ? withFirstSigned(parts) : parts, isReasoningDropped }
}

/** The part has only a signature. */
function isBare(part: AssistantPart): part is PromptReasoning {
  return part.kind === 'reasoning' && (part.isRedacted || part.text === '')
}

/** Signs the last part. @returns false: it is not a text, or it has a signature or is a thought */
function signOf(parts: GeminiPart[], signature: Signature): boolean {
  const last = parts.at(-1)
  if (last === undefined || !('text' in last)) return false
  if (last['thought'] !== undefined || last['thoughtSignature'] !== undefined) return false
  parts[parts.length - 1] = { ...last, thoughtSignature: signature.data }
  return true
}

function partOf(part: AssistantPart, signature: Signature | null): GeminiPart | null {
  const signed = signature === null ? {} : { thoughtSignature: signature.data }
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return part.text === '' ? null : { text: part.text }
    case 'reasoning':
      return { text: part.text, thought: true, ...signed }
    case 'call':
      return { functionCall: callOf(part), ...signed }
  }
}

function callOf(call: PromptCall): object {
  return { name: call.name, args: argumentsObject(call.arguments) }
}

function withFirstSigned(parts: readonly GeminiPart[]): readonly GeminiPart[] {
  const first = parts.findIndex((part) => 'functionCall' in part)
  return parts.map((part, at) =>
    at === first && part['thoughtSignature'] === undefined
      ? { ...part, thoughtSignature: FOREIGN_SIGNATURE }
      : part,
  )
}

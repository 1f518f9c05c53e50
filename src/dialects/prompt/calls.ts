import { HASH_BEGIN, hashed } from '../../schemas/inference/conversation.ts'
import type { AssistantPart, Prompt, Turn } from './prompt.ts'
import { parseMarked } from '../../schemas/values/long-integers.ts'
import { objectOf } from '../../schemas/values/members.ts'
import { INFERENCE_DEPTH_MAX } from '../../schemas/inference/inference-limits.ts'
import {
  BACKSLASH,
  CLOSE_LIST,
  CLOSE_OBJECT,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
} from '../../schemas/values/json-bytes.ts'

export interface CallIdRule {
  readonly fits: RegExp
  /** Length of a replacement id in characters. */
  readonly length: number
}

/** Anthropic accepts letters, digits, `_` and `-`. */
export const MESSAGES_CALL_ID: CallIdRule = { fits: /^[\w-]+$/, length: 9 }
/** OpenAI accepts 40 characters in Chat Completions and 64 in Responses. */
export const CHAT_CALL_ID: CallIdRule = { fits: /^[^]{1,40}$/, length: 9 }
export const RESPONSES_CALL_ID: CallIdRule = { fits: /^[^]{1,64}$/, length: 9 }
/** Mistral requires exactly nine letters or digits. */
export const STRICT_CALL_ID: CallIdRule = { fits: /^[A-Za-z0-9]{9}$/, length: 9 }

/**
 * The prompt with a unique id for each call: some models restart their call numbers in each turn, and
 * providers refuse a repeated id. Results are matched to calls with the same id, in order.
 */
export function withUniqueCalls(prompt: Prompt): Prompt {
  const called = prompt.turns.flatMap((turn) => (turn.role === 'assistant' ? turn.parts.flatMap(idIn) : []))
  const taken = new Set(called)
  if (taken.size === called.length) return prompt
  const seen = new Set<string>()
  const open = new Map<string, string[]>()
  const last = new Map<string, string>()
  const fresh = (id: string): string => {
    let unique = id
    for (let nth = 2; seen.has(unique) || (unique !== id && taken.has(unique)); nth++) unique = `${id}_${nth}`
    seen.add(unique)
    const waiting = open.get(id)
    if (waiting === undefined) open.set(id, [unique])
    else waiting.push(unique)
    return unique
  }
  const answered = (id: string): string => {
    const unique = open.get(id)?.shift() ?? last.get(id) ?? id
    // A second result for the same id belongs to the same call.
    last.set(id, unique)
    return unique
  }
  return {
    ...prompt,
    turns: prompt.turns.map((turn) => {
      if (turn.role === 'tool') return { ...turn, callId: answered(turn.callId) }
      if (turn.role !== 'assistant') return turn
      const parts = turn.parts.map((part) => (part.kind === 'call' ? { ...part, id: fresh(part.id) } : part))
      return { ...turn, parts }
    }),
  }
}

function idIn(part: AssistantPart): readonly string[] {
  return part.kind === 'call' ? [part.id] : []
}

const BASE = 36
const SECOND = 'second'

/** The id itself if it fits; otherwise a replacement that is always the same for this id. */
export function fittingId(id: string, { fits, length }: CallIdRule): string {
  if (fits.test(id)) return id
  const one = hashed(HASH_BEGIN, id) >>> 0
  const other = hashed(hashed(HASH_BEGIN, SECOND), id) >>> 0
  return (one.toString(BASE).padStart(7, '0') + other.toString(BASE).padStart(7, '0')).slice(-length)
}

/**
 * The arguments of a call as an object, for protocols that do not accept a text; long integers are replaced
 * by marks. A model may have written text that is not an object, and callers return it unchanged: it is kept
 * readable in the member `text`.
 */
export function argumentsObject(json: string): Readonly<Record<string, unknown>> {
  if (json.trim() === '') return {}
  return objectOf(parsedArguments(json)) ?? { text: json }
}

/**
 * Long integers are replaced by marks. Null: the text is not valid JSON, or has more levels than a body may
 * have and could not be serialized.
 */
export function parsedArguments(json: string): unknown {
  if (isDeeper(json, INFERENCE_DEPTH_MAX)) return null
  try {
    return parseMarked(json)
  } catch {
    return null
  }
}

type Parts = Extract<Turn, { readonly role: 'tool' }>['parts']

/** Prefix of the result of a failed tool, in forms without a member for the failure. Part D, mapping table. */
const ERROR = '[error] '

/** The result of a tool that failed. */
export function erroneous(parts: Parts): Parts {
  const [first] = parts
  if (first?.kind === 'text') return [{ ...first, text: ERROR + first.text }, ...parts.slice(1)]
  return [{ kind: 'text', text: ERROR.trimEnd(), cache: null }, ...parts]
}

/** Whether a JSON text has more nesting levels than the maximum; the outermost value is level 1. */
function isDeeper(json: string, levelsMax: number): boolean {
  let depth = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) isText = !isText
    else if (isText) {
      if (unit === BACKSLASH) at++
    } else if (unit === OPEN_LIST || unit === OPEN_OBJECT) {
      if (++depth > levelsMax) return true
    } else if (unit === CLOSE_LIST || unit === CLOSE_OBJECT) depth--
  }
  return false
}

import { ECHO_TOKENS_MAX } from '../schemas/inference/inference-limits.ts'
import type { ShortJobTypes } from '../server/ports/short-jobs.ts'

/**
 * A token of `sluice/echo-1`: a word with the space before it; the last one keeps the space behind it. D35.
 */
const WORD = /\s*\S+(?:\s+$)?/g
const REASONING = ['I', ' only', ' echo.'] as const
/** Fragments in which a tool call's arguments come. */
const FRAGMENTS = 3

/** The answer of `sluice/echo-1`: the last text, or a call of the chosen tool with it. D35. */
export function echo({
  last,
  stops,
  tokensMax,
  isReasoning,
  isCall,
  choices,
}: ShortJobTypes['echo']['in']): ShortJobTypes['echo']['out'] {
  const reasoning: readonly string[] = isReasoning ? REASONING : []
  const most = Math.min(tokensMax ?? Infinity, Math.floor(ECHO_TOKENS_MAX / choices))
  if (reasoning.length >= most) return { reasoning: reasoning.slice(0, most), pieces: [], finish: 'length' }
  const room = most - reasoning.length
  if (isCall) return { reasoning, ...called(last, room) }
  const words = wordsOf(untilStop(last, stops), room + 1)
  const isCut = words.length > room
  return {
    reasoning,
    pieces: isCut ? words.slice(0, room) : words,
    finish: isCut ? 'length' : 'stop',
  }
}

function called(last: string, room: number): Pick<ShortJobTypes['echo']['out'], 'pieces' | 'finish'> {
  const text = JSON.stringify({ text: last })
  const pieces = Array.from({ length: FRAGMENTS }, (_, nth) =>
    text.slice(cutAt(text, nth), cutAt(text, nth + 1)),
  )
  return room < FRAGMENTS
    ? { pieces: pieces.slice(0, room), finish: 'length' }
    : { pieces, finish: 'tool_calls' }
}

/** Where the fragment begins: never within a pair of surrogates, which clients could not join. */
function cutAt(text: string, nth: number): number {
  const at = Math.ceil((text.length * nth) / FRAGMENTS)
  return /[\udc00-\udfff]/.test(text.charAt(at)) ? at + 1 : at
}

function untilStop(text: string, stops: readonly string[]): string {
  const ends = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends))
}

function wordsOf(text: string, most: number): string[] {
  const words: string[] = []
  for (const [word] of text.matchAll(WORD)) {
    if (words.length === most) break
    words.push(word)
  }
  return words
}

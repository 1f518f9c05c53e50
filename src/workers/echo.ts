import { textJson } from '../dialects/form-fit.ts'
import { isReadByEcho, saysNothingToEcho } from '../dialects/echo-members.ts'
import { MORE, Others, OTHERS_MAX } from '../dialects/prompt/others.ts'
import { INFERENCE_DEPTH_MAX } from '../schemas/inference/inference-limits.ts'
import type { ShortJobTypes } from '../server/ports/short-jobs.ts'
import { scanBody } from './body-scan.ts'

/** Tokens that `sluice/echo-1` writes for one call, over all of its choices. Decision. */
export const ECHO_TOKENS_MAX = 8_192

const REASONING = ['I', ' only', ' echo.'] as const
/** Fragments into which the arguments of a tool call are divided. */
const FRAGMENTS = 3

type Echo = ShortJobTypes['echo']

/** The answer of `sluice/echo-1`: the last text, JSON that contains it, or a call of the chosen tool with it. */
export function echo(input: Echo['in']): Echo['out'] {
  const { unread } = input
  return { ...repeated(input), dropped: unread === null ? [] : droppedOf(unread) }
}

/** Bytes of a value that may be a default, with white space. Decision. */
const DEFAULT_BYTES_MAX = 64
/** Members that are examined for such values: four for each name that the answer can list. */
const SEARCHED_MAX = 4 * OTHERS_MAX

function droppedOf({ dialect, body }: NonNullable<Echo['in']['unread']>): readonly string[] {
  const scan = scanBody(body, { names: [], othersMax: SEARCHED_MAX, depthMax: INFERENCE_DEPTH_MAX })
  if (!scan.ok || scan.known === null) throw new Error('a checked body is not an object')
  const others = new Others(dialect)
  for (const { name, start, end } of scan.others) {
    if (isReadByEcho(dialect, name)) continue
    const isShort = end - start <= DEFAULT_BYTES_MAX
    const json = isShort ? Buffer.from(body.subarray(start, end)).toString() : null
    if (json === null || !saysNothingToEcho(dialect, name, JSON.parse(json))) others.drop(name, [name])
  }
  const names = others.members.map(({ name }) => name)
  return scan.others.length < SEARCHED_MAX || names.includes(MORE) ? names : [...names, MORE]
}

function repeated({
  last,
  isLastCut,
  stops,
  tokensMax,
  isReasoning,
  isCall,
  isJson,
  choices,
}: Echo['in']): Omit<Echo['out'], 'dropped'> {
  const reasoning: readonly string[] = isReasoning ? REASONING : []
  const most = Math.min(tokensMax ?? Infinity, Math.floor(ECHO_TOKENS_MAX / choices))
  if (reasoning.length >= most) return { reasoning: reasoning.slice(0, most), pieces: [], finish: 'length' }
  const room = most - reasoning.length
  if (isCall) return { reasoning, ...called(last, room) }
  const whole = isJson ? textJson(last) : last
  const text = untilStop(whole, stops)
  const words = wordsOf(text, room + 1)
  // JSON is complete even when the text in it is cut.
  const isCut = words.length > room || (isLastCut && !isJson && text.length === whole.length)
  return { reasoning, pieces: words.slice(0, room), finish: isCut ? 'length' : 'stop' }
}

function called(last: string, room: number): Pick<ShortJobTypes['echo']['out'], 'pieces' | 'finish'> {
  const text = textJson(last)
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

/**
 * Tokens of the model: a word with the space before it; the last one keeps the space after it. The text is read in one
 * pass: a regular expression would retry each place of a long space.
 */
function wordsOf(text: string, most: number): string[] {
  const words: string[] = []
  let from = 0
  let isInWord = false
  for (let at = 0; at < text.length && words.length < most; at++) {
    const isSpace = /\s/.test(text.charAt(at))
    if (isInWord && isSpace) {
      words.push(text.slice(from, at))
      from = at
    }
    isInWord = !isSpace
  }
  if (words.length === most) return words
  if (isInWord) words.push(text.slice(from))
  else if (words.length > 0) words.push(`${words.pop() ?? ''}${text.slice(from)}`)
  return words
}

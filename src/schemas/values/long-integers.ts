import { randomUUID } from 'node:crypto'
import { QUOTE } from './json-bytes.ts'

/** Digits of the smallest integer that a parser may round. */
const DIGITS_MIN = 16
const LONG = /^-?[1-9]\d{15,}$/
const [ZERO, NINE, MINUS] = [0x30, 0x39, 0x2d]
const OF_NUMBER = /[\d.eE+-]/
/** Prefix of a text that represents an integer; random, so callers and providers cannot send it. */
const MARK = `${randomUUID()}:`
/** Such a text in JSON, or in JSON inside a JSON string, where its quotes are escaped. */
const MARKED = new RegExp(`(\\\\*)"${MARK}(-?\\d+)\\1"`, 'g')

/**
 * Parses JSON and replaces integers that a parser would round (above 2^53), such as ids in tool arguments, by
 * texts. Writers of such a value must call `withoutMarks`. Throws if the text is not JSON.
 */
export function parseMarked(json: string): unknown {
  const value: unknown = JSON.parse(json)
  return hasLongRun(json) ? JSON.parse(marked(json)) : value
}

/** Whether a run of DIGITS_MIN digits is possible; most JSON has none. Checks only every DIGITS_MIN-th character, since all streams are checked. */
function hasLongRun(json: string): boolean {
  for (let at = DIGITS_MIN - 1; at < json.length; at += DIGITS_MIN) {
    if (!isDigit(json.charCodeAt(at))) continue
    let from = at
    while (at - from < DIGITS_MIN && isDigit(json.charCodeAt(from - 1))) from--
    let end = at + 1
    while (end - from < DIGITS_MIN && isDigit(json.charCodeAt(end))) end++
    if (end - from >= DIGITS_MIN) return true
  }
  return false
}

function marked(json: string): string {
  let text = ''
  let from = 0
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at)
    if (unit === QUOTE) at = endOfText(json, at)
    else if (unit === MINUS || isDigit(unit)) {
      const end = endOfNumber(json, at)
      const number = json.slice(at, end)
      if (isRounded(number)) {
        text += `${json.slice(from, at)}"${MARK}${number}"`
        from = end
      }
      at = end - 1
    }
  }
  return text + json.slice(from)
}

/** JSON in which the marks are replaced by the integers. */
export function withoutMarks(json: string): string {
  return json.includes(MARK) ? json.replace(MARKED, '$2') : json
}

/** The number that a text represents; null: the text is not a mark. */
export function markedNumber(value: unknown): number | null {
  return typeof value === 'string' && value.startsWith(MARK) ? Number(value.slice(MARK.length)) : null
}

/** False also for the NaN beyond the ends of a text. */
function isDigit(unit: number): boolean {
  return unit >= ZERO && unit <= NINE
}

function isRounded(number: string): boolean {
  return LONG.test(number) && !Number.isSafeInteger(Number(number))
}

/** @param from offset of the opening quote @returns the offset of the closing quote */
function endOfText(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0
    while (json[at - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return at
  }
  return json.length
}

function endOfNumber(json: string, from: number): number {
  let at = from
  while (at < json.length && OF_NUMBER.test(json.charAt(at))) at++
  return at
}

import type { CallNotes } from '../../ports/observe.ts'
import { Desk } from './reply-body.ts'

type Stages = Pick<CallNotes, 'authMs' | 'limitsMs' | 'validateMs' | 'upstreamMs' | 'ttftMs'>

/** Bytes of the longest text: six stages of 40 at most. */
const TEXT_BYTES = 256
const ZERO = 0x30
const POINT = 0x2e

const DESK = new Desk(TEXT_BYTES, 0)

/**
 * Durations of the stages that ran, in milliseconds. Design §11. The digits are written one by one: numbers
 * as texts, and texts of pieces, would be 700 bytes of garbage a call.
 */
export function serverTiming(stages: Stages, totalMs: number): string {
  let at = stageAt(0, 'auth;dur=', stages.authMs)
  at = stageAt(at, 'limits;dur=', stages.limitsMs)
  at = stageAt(at, 'validate;dur=', stages.validateMs)
  at = stageAt(at, 'upstream;dur=', stages.upstreamMs)
  at = stageAt(at, 'ttft;dur=', stages.ttftMs)
  return DESK.bytes.toString('latin1', 0, millisAt(DESK.ascii('total;dur=', at), totalMs))
}

function stageAt(at: number, name: string, ms: number | undefined): number {
  return ms === undefined ? at : DESK.ascii(', ', millisAt(DESK.ascii(name, at), ms))
}

/** Writes three decimals. */
function millisAt(at: number, ms: number): number {
  const { bytes } = DESK
  const us = Math.round(ms * 1_000)
  const whole = Math.floor(us / 1_000)
  const thousandths = us - whole * 1_000
  const end = whole < 10 ? digitAt(at, whole) : DESK.ascii(String(whole), at)
  bytes[end] = POINT
  digitAt(end + 1, (thousandths / 100) | 0)
  digitAt(end + 2, ((thousandths / 10) | 0) % 10)
  return digitAt(end + 3, thousandths % 10)
}

function digitAt(at: number, digit: number): number {
  DESK.bytes[at] = ZERO + digit
  return at + 1
}

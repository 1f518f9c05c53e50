import { readFileSync } from 'node:fs'
import { connectionsMax, descriptorsIn } from '../../../http/connections.ts'
import { doubtful, good, type Finding } from './finding.ts'
import type { Look } from './look.ts'

/**
 * Descriptors of a process below which doctor warns: with the streams of the default, a front then
 * holds fewer than 5,120 connections. Decision.
 */
export const DESCRIPTORS_MIN = 8_192

/**
 * The descriptors that a front may open: the limit of the running node, else of this process, which would
 * start it. Linux only.
 * @param streams long calls to providers that a front makes at once, for which it leaves descriptors
 */
export function descriptors({ running }: Pick<Look, 'running'>, streams: number): readonly Finding[] {
  const limits = limitsOf(running === null ? 'self' : String(running.pid))
  if (limits === null) return []
  const count = descriptorsIn(limits)
  const many = count === Infinity ? 'any number' : count
  const held = connectionsMax(streams, limits)
  const detail = `a front can open ${many} descriptors: enough for ${held} connections in addition to ${streams} streams`
  if (count >= DESCRIPTORS_MIN) return [good('descriptors', detail)]
  const fix = `raise the hard limit to ${DESCRIPTORS_MIN} or more (\`ulimit -Hn\`, LimitNOFILE= of a unit, --ulimit nofile= of a container), and restart`
  return [doubtful('descriptors', detail, fix)]
}

function limitsOf(pid: string): string | null {
  try {
    return readFileSync(`/proc/${pid}/limits`, 'latin1')
  } catch {
    return null
  }
}

import { Pieces } from '../walk/splices.ts'
import { ResponseWalk } from './walk.ts'
import { usageWithItems, reportedUsageOf } from './usage.ts'
import type { NativeHead, ReadAnswer } from '../parts.ts'
import { NOTHING_REPORTED, reportedWith } from '../usage.ts'

/**
 * Reads a whole answer of a provider that speaks responses.
 * @returns null: not a JSON object, an error, or no list of outputs. Bytes: the error of a failed response
 */
export function readResponse(body: Buffer, head: NativeHead): ReadAnswer | Uint8Array | null {
  const walk = new ResponseWalk(head, 'answer')
  if (!walk.run(body, true)) return null
  const { response, status } = walk
  if (status === 'failed') return walk.reportedError
  if (response.error !== null || !response.hasList) return null
  const reportedUsage = reportedUsageOf(walk.usage, response.items.count > 0)
  const before = new Pieces(walk.bytes)
  const after = new Pieces(walk.bytes)
  walk.around(before, after, 'completed')
  return {
    usage: usageWithItems(reportedUsage?.tokens ?? null, response.items.searches),
    outputBytes: response.items.bytes,
    finishReason: walk.incompleteReason ?? status ?? 'completed',
    upstreamId: walk.upstreamId,
    reported: reportedWith(NOTHING_REPORTED, { service_tier: walk.serviceTier }),
    pieces: {
      before: before.all,
      usageMembers: reportedUsage === null ? null : [reportedUsage.members],
      after: after.all,
    },
  }
}

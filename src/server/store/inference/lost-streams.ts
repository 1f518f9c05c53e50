import { generationMsOf } from '../../../schemas/inference/generations.ts'
import type { Generation, StreamNote } from '../../ports/inference/generations.ts'
import type { OpenTake } from '../../ports/money/lending.ts'
import type { Log } from '../../ports/observe.ts'
import type { Store } from '../base/open.ts'
import { isAway } from '../base/translate.ts'
import { insertGenerations } from './generations.ts'

/**
 * Writes the records of calls whose front died while their answers streamed; a repetition adds nothing.
 * Rejects while the store is unavailable. A record that the store refuses is lost, since closing the books of
 * the front must not wait for it.
 */
export async function keepLostStreams(store: Store, takes: readonly OpenTake[], log: Log): Promise<void> {
  await keep(
    store,
    takes.flatMap((take) => generationOf(take) ?? []),
    log,
  )
}

async function keep(store: Store, lost: readonly Generation[], log: Log): Promise<void> {
  if (lost.length === 0) return
  try {
    await insertGenerations(store, lost)
  } catch (cause) {
    if (isAway(cause)) throw cause
    if (lost.length === 1) log.error('generations.refused', { cause })
    else for (const one of lost) await keep(store, [one], log)
  }
}

/** Null: the answer had not begun, or the journal does not contain its note. */
function generationOf(take: OpenTake): Generation | null {
  const { progress, requestId, organizationId, workspaceId } = take
  const note = progress === undefined ? null : noteOf(progress.note)
  const createdMs = note === null ? null : generationMsOf(note.id)
  if (progress === undefined || note === null || createdMs === null) return null
  const { id, upstreamId, ...known } = note
  const { model, provider, tokens, text, costNano, isByok, milliseconds, atMs } = progress
  return {
    id,
    createdMs,
    organizationId,
    workspaceId,
    upstreamId,
    facts: {
      ...known,
      requestId,
      model,
      provider,
      isStreamed: true,
      isCancelled: false,
      finishReason: 'error',
      usage: {
        input: tokens - text.cachedTokens,
        cacheRead: text.cachedTokens,
        cacheWrite: 0,
        output: text.outputTokens,
        reasoning: 0,
      },
      isEstimated: true,
      chargedNano: costNano,
      isByok,
      latencyMs: Math.max(0, Math.round(atMs - createdMs)),
      upstreamMs: Math.round(milliseconds),
    },
  }
}

/** The journal cuts a text that is too long. */
function noteOf(json: string): StreamNote | null {
  try {
    return JSON.parse(json) as StreamNote
  } catch {
    return null
  }
}

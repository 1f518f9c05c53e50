/**
 * Video jobs from their offer to their webhook in one process, which dies on the way when an order says so.
 */
import { createHash } from 'node:crypto'
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { newId } from '../../../../src/server/store/base/ids.ts'
import type { Owners } from '../../../support/money/money.ts'
import { answerOf, videoInput, VIDEO_REQUEST } from '../../../support/videos/video-jobs.ts'
import type { Order, Answer, WantedJob } from './order.ts'
import { openParts, type Place } from './parts.ts'
import { FaultPoints } from './points.ts'

const RETRY_MS = 100
/** Of each job: what it is held for and costs. */
const COST_NANO = 40_000_000

const points = new FaultPoints()
const { jobs, answers } = await openParts(JSON.parse(process.argv[2] ?? '') as Place, points)
createInterface(process.stdin)
  .on('line', (line) => {
    const order = JSON.parse(line) as Order
    points.arm(order.run, order.fault)
    for (const job of order.wanted) void want(order, job)
  })
  // The ordering process is gone.
  .on('close', () => process.exit())

async function want({ run, owners }: Order, job: WantedJob): Promise<void> {
  const { nth, cancelInMs, inMs } = job
  await pause(inMs)
  const id = await offer(owners, job)
  tell({ what: 'accepted', run, nth, id })
  if (cancelInMs === null) return
  await pause(cancelInMs)
  const cancelled = await jobs.cancel(owners.workspaceId, id)
  tell({ what: 'cancelled', run, nth, how: cancelled.ok ? 'ok' : cancelled.failure.name })
}

/**
 * As the operation and its pipeline do, and as a client that repeats its call until it is answered. @returns
 * the job's id
 */
async function offer(owners: Owners, { key, kind, model, prompt, callbackUrl }: WantedJob): Promise<string> {
  const idempotency = { key, apiKeyHash: owners.keyHash, requestDigest: 'POST /videos' }
  const bodySha256 = createHash('sha256').update(prompt).digest('hex')
  for (; ; await pause(RETRY_MS)) {
    const begun = await answers.begin({ idempotency, holder: owners.workspaceId })
    if (!begun.ok) continue
    if (begun.value.kind === 'replay')
      return (JSON.parse(begun.value.answer.json) as { readonly id: string }).id
    const { claim } = begun.value
    const accepted = await jobs.accept(
      videoInput(owners, {
        requestId: newId(),
        costNano: COST_NANO,
        callbackUrl,
        limits: { isCreditLimited: true, isWorkspaceLimited: true, isKeyLimited: true },
        target: {
          model,
          provider: kind,
          endpoint: `${kind}/clip-${kind}`,
          upstreamModel: `clip-${kind}`,
          ownSecret: null,
        },
        request: {
          ...VIDEO_REQUEST,
          prompt,
          seconds: 4,
          resolution: '720p',
          size: { width: 1280, height: 720 },
          seed: null,
        },
        once: { claim, bodySha256, answer: answerOf },
      }),
    )
    if (!accepted.ok) {
      await answers.forget(claim)
      continue
    }
    await answers.remember(claim, { bodySha256, json: answerOf(accepted.value) })
    return accepted.value.id
  }
}

function tell(reported: Answer): void {
  writeSync(1, `${JSON.stringify(reported)}\n`)
}

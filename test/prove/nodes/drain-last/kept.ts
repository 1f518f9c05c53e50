/** Connections that were kept over SIGTERM, each of which brings one more call soon after its last answer. */
import { isGone } from '../../../support/nodes/node.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import { rawClient, requestText, type RawClient } from '../../../support/wire/raw-http.ts'
import { until } from '../../../support/wait.ts'
import { bodyOf } from '../../inference/paced/callers.ts'
import { PACED_DIALECTS } from '../../inference/paced/dialects.ts'
import type { Asked } from '../../inference/paced/provider.ts'
import { PACED_MODEL, startPacedStand, type PacedStand } from '../../inference/paced/stand.ts'
import type { Proof } from '../../proof.ts'

/** Milliseconds between the end of an answer and the next call of its connection, at most. */
const NEXT_MS_MAX = 250
const WORD_MS = 200
/** Of the next call: half a second. */
const WORDS = 3
/** Milliseconds before the end of a drain from which the next calls may come after it. */
const NEAR_END_MS = 1_000

/**
 * What became of the next call. `whole`: answered. `draining`: its stream ended with that event. `refused`: the
 * error envelope. `closed`: its client saw the end of the connection before it sent. `crossed`: sent while the
 * node closed the connection; no byte of an answer came, and the provider never got it. `cut`: the rest.
 */
const ENDS = ['whole', 'draining', 'refused', 'closed', 'crossed', 'cut'] as const
type End = (typeof ENDS)[number]

/** The end of a stream, with trailers or without. */
const WHOLE = /data: \[DONE\]\n\n\r\n0\r\n(?:[\w-]+: [^\r\n]*\r\n)*\r\n$/

export interface KeptInput {
  readonly connections: number
  /** Milliseconds from SIGTERM to the end of the streams. */
  readonly endMs: number
  /** Milliseconds that the node gives to its calls. */
  readonly drainMs: number
}

export async function keptConnections(
  proof: Proof,
  { connections, endMs, drainMs }: KeptInput,
): Promise<void> {
  const settings = { SLUICE_DRAIN_MS: String(drainMs) }
  const paced = await startPacedStand(proof, { fronts: 1, wordMs: WORD_MS, settings })
  const { stand, provider } = paced
  const name = `${connections} streams that end ${endMs / 1_000} s after SIGTERM, of a drain of ${drainMs / 1_000} s`
  const waits = Array.from({ length: connections }, () => proof.random(NEXT_MS_MAX + 1))
  const opened = waits.map((_, nth) => {
    const client = rawClient(stand.port)
    client.send(requestOf(paced, { id: `first-${endMs}-${nth}` }))
    return client
  })
  // The heads of these answers are out: the node cannot ask their clients any more to close the connection.
  await Promise.all(opened.map((client) => client.until(/\r\n\r\n[^]*data: /)))
  const kept = opened.filter(({ text }) => !/\r\nconnection: *close/i.test(text)).length
  process.kill(stand.pid, 'SIGTERM')
  await pause(endMs)
  const nexts = opened.map((client, nth) =>
    nextCall(paced, { client, id: `next-${endMs}-${nth}`, waitMs: waits[nth] ?? 0 }),
  )
  provider.endAll()
  const ends = await Promise.all(nexts)
  await until('the node has ended', () => isGone(stand.pid))
  const count = (end: End): number => ends.filter((one) => one === end).length
  const found = ENDS.map((end) => `${count(end)} ${end}`).join(', ')
  proof.check(`${name}: each keeps its connection`, kept === connections, `${kept} of ${connections}`)
  proof.check(`${name}: no next call is cut`, count('cut') === 0, found)
  // The end of the drain is the only reason to close a connection whose client may call again.
  const isNearEnd = endMs > drainMs - NEAR_END_MS
  if (!isNearEnd)
    proof.check(`${name}: each next call is answered whole`, count('whole') === connections, found)
}

interface Next {
  readonly client: RawClient
  readonly id: string
  readonly waitMs: number
}

async function nextCall(paced: PacedStand, { client, id, waitMs }: Next): Promise<End> {
  const first = await client.untilEnd(WHOLE).catch(() => null)
  if (first === null) return isDraining(client.text) ? 'closed' : 'cut'
  await pause(waitMs)
  if (client.isClosed) return 'closed'
  client.send(requestOf(paced, { id, words: WORDS }))
  const answer = (await client.closed()).slice(first.length)
  if (answer === '') return paced.provider.answers.has(id) ? 'cut' : 'crossed'
  return endOf(answer)
}

function endOf(answer: string): End {
  const head = /^[^]*?\r\n\r\n/.exec(answer)?.[0] ?? ''
  const body = answer.slice(head.length)
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? -1)
  if (!head.startsWith('HTTP/1.1 200 '))
    return body.length === length && body.startsWith('{"error":') ? 'refused' : 'cut'
  if (WHOLE.test(answer)) return 'whole'
  return isDraining(answer) ? 'draining' : 'cut'
}

function isDraining(text: string): boolean {
  return text.includes('"error_type":"draining"')
}

function requestOf({ stand }: PacedStand, asked: Asked): string {
  const dialect = PACED_DIALECTS.find(({ name }) => name === 'chat')
  if (dialect === undefined) throw new Error('the paced provider does not speak chat')
  const body = bodyOf(PACED_MODEL, { dialect, asked })
  const headers = {
    authorization: `Bearer ${stand.keys.inference_key}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
  }
  return requestText(`POST /api/v1${dialect.path}`, headers, body)
}

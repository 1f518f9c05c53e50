/** Recordings as folders: a file for each call, with both wires, and what two folders have not in common. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AUTHORIZATION, KEY } from '../../../support/front.ts'
import { API_PREFIX } from '../../../../src/schemas/api-prefix.ts'
import type { ReplayCall } from './cases.ts'
import { exchange } from './exchange.ts'
import { masked } from './masks.ts'
import { openReplay, type ReplayStand } from './replay-stand.ts'

/** Says that a folder is a recording. */
const ABOUT = 'about.txt'
/** Calls of one front: it keeps what it knows of their models. */
const FRONT_CALLS_MAX = 250

export interface Recorded {
  readonly calls: number
  /** Calls of which a provider got a request, and these requests. */
  readonly reaching: number
  readonly requests: number
  readonly bytes: number
  readonly statuses: Readonly<Record<number, number>>
}

/** @param about calls that are recorded: recordings of others cannot be compared */
export async function record(calls: readonly ReplayCall[], folder: string, about: string): Promise<Recorded> {
  makeFolder(folder)
  const statuses: Record<number, number> = {}
  let [reaching, requests, bytes] = [0, 0, 0]
  for (let from = 0; from < calls.length; from += FRONT_CALLS_MAX) {
    const some = calls.slice(from, from + FRONT_CALLS_MAX)
    const stand = await openReplay(some)
    // One after another: what one call does to the next is the same in each recording.
    for (const call of some) {
      const { text, status } = await wiresOf(stand, call)
      writeFileSync(join(folder, nameOf(call)), text, 'latin1')
      statuses[status] = (statuses[status] ?? 0) + 1
      const { length } = stand.got(call)
      reaching += Math.min(length, 1)
      requests += length
      bytes += text.length
    }
    await stand.close()
  }
  writeFileSync(join(folder, ABOUT), about)
  return { calls: calls.length, reaching, requests, bytes, statuses }
}

/** Removes an earlier recording, and nothing else. */
function makeFolder(folder: string): void {
  mkdirSync(folder, { recursive: true })
  const files = readdirSync(folder)
  const other = files.find((file) => file !== ABOUT && !FILE.test(file))
  if (other !== undefined) throw new Error(`${folder} has ${other}, which is of no recording`)
  for (const file of files) rmSync(join(folder, file))
}

const FILE = /^\d{4}\.txt$/

function nameOf({ nth }: ReplayCall): string {
  return `${String(nth).padStart(4, '0')}.txt`
}

/** Both wires of a call, with a character for each byte. */
async function wiresOf(
  stand: ReplayStand,
  call: ReplayCall,
): Promise<{ readonly text: string; readonly status: number }> {
  const { port, providerPort } = stand
  const from = Date.now()
  const request = requestOf(call)
  const { head, body, isWhole } = await exchange(port, request)
  const all = [
    `### ${call.text}\n${request}`,
    ...stand
      .got(call)
      .map(
        ({ bytes, body: got }, nth) => `### request ${nth} at the provider\n${headOf(bytes)}\n${text(got)}`,
      ),
    `### answer, ${isWhole ? 'whole' : 'broken off'}\n${head}\n${body}`,
  ].join('\n')
  const ports = { front: port, provider: providerPort }
  return {
    text: masked(all, { ports, keys: { key: KEY }, from, to: Date.now() }),
    status: Number(head.split(' ')[1] ?? 0),
  }
}

function requestOf({ path, body }: ReplayCall): string {
  const lines = [
    `POST ${API_PREFIX}${path} HTTP/1.1`,
    'host: localhost',
    `authorization: ${AUTHORIZATION}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
  ]
  return `${lines.join('\r\n')}\r\n\r\n${body}`
}

function headOf(bytes: Buffer): string {
  return text(bytes.subarray(0, bytes.indexOf('\r\n\r\n')))
}

function text(bytes: Buffer): string {
  return bytes.toString('latin1')
}

/** Characters that are shown of a difference. */
const SHOWN_CHARS = 60
/** Characters of them before the first byte that differs. */
const BEFORE_CHARS = 20

/** A line for each call that differs. Throws where the two are recordings of other calls. */
export function differencesOf(folder: string, earlier: string): readonly string[] {
  const [about, other] = [folder, earlier].map((one) => readFileSync(join(one, ABOUT), 'utf8'))
  if (about !== other) throw new Error(`${earlier} is a recording of other calls: ${other}, not ${about}`)
  const names = readdirSync(folder).filter((file) => FILE.test(file))
  return names.sort().flatMap((name) => {
    const [now, before] = [folder, earlier].map((one) => readFileSync(join(one, name), 'latin1'))
    return now === before ? [] : [`${name} ${differenceOf(now ?? '', before ?? '')}`]
  })
}

/** It follows from the body, and is reported only where it alone differs. */
const LENGTH = /\r\ncontent-length: \d+/gi

/** What is called, the wire and its line, and both texts from a little before the first byte that differs. */
function differenceOf(now: string, before: string): string {
  const [bare, other] = [now, before].map((all) => all.replace(LENGTH, ''))
  return bare === other ? differenceIn(now, before) : differenceIn(bare ?? '', other ?? '')
}

function differenceIn(now: string, before: string): string {
  let at = 0
  while (at < now.length && now[at] === before[at]) at++
  const call = now.slice('### '.length, now.indexOf('\n'))
  const lines = now.slice(0, at).split('\n### ').at(-1)?.split('\n') ?? []
  const shown = (all: string): string =>
    JSON.stringify(
      Buffer.from(all.slice(Math.max(0, at - BEFORE_CHARS), at + SHOWN_CHARS), 'latin1').toString(),
    )
  const place = `${lines[0]?.replace('### ', '')}, line ${lines.length - 1}`
  return `(${call}): ${place}: ${shown(now)} was ${shown(before)}`
}

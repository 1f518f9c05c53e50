/** Files of the workspace, and addresses of media, at providers that speak another form. */
import { INLINE_FILE_BYTES_MAX } from '../../../src/schemas/inference/inference-limits.ts'
import { CallMedia } from '../../../src/server/upstream/inference/inline/call-media.ts'
import { pdfOf } from '../../support/corpus/binaries.ts'
import { attack, type Reach } from '../../support/egress/attack.ts'
import { watchMemory } from '../../support/load/process-memory.ts'
import { pause } from '../../support/nodes/spawned.ts'
import { startStand, type Stand } from '../../support/nodes/stand.ts'
import { tally, type Program, type Proof } from '../proof.ts'
import { callWithFile, FILE_PAIRS, type FilePair } from './files/file-pairs.ts'
import {
  fileCatalogue,
  startFileProvider,
  type FileProvider,
  type GotRequest,
} from './files/file-provider.ts'

const MIB = 1_048_576
const FULL = { calls: 200, fileBytes: INLINE_FILE_BYTES_MAX, settleMs: 5_000 }
const SHORT = { calls: 18, fileBytes: MIB, settleMs: 0 }
/** Bytes that all processes of the node may take more than before. */
const GROWTH_BYTES_MAX = 200 * MIB
const FETCH_MS = 10_000

export const program: Program = {
  text: '200 calls with 20 MiB PDFs at once in nine pairs take 200 MB; repeats are the same bytes; 0 connections to forbidden addresses',
  async run(proof) {
    if (process.platform !== 'linux') {
      proof.skipped = 'what processes hold is read from /proc'
      return
    }
    const size = proof.isShort ? SHORT : FULL
    const provider = await startFileProvider(proof)
    const stand = await startStand({ catalogue: fileCatalogue(provider.origin) })
    proof.after(() => stand.stop())
    const content = pdfOf(size.fileBytes)
    const id = await upload(stand, content)
    const stage: Stage = { proof, stand, provider, id, content }
    const bodies = await repeats(stage)
    await atOnce(stage, size, bodies)
    await strangers(stage)
    await addresses(proof)
  },
}

interface Stage {
  readonly proof: Proof
  readonly stand: Stand
  readonly provider: FileProvider
  /** Of the file, and what it has. */
  readonly id: string
  readonly content: Buffer
}

const nameOf = ({ dialect, protocol }: FilePair): string => `${dialect} to ${protocol}`

/** @returns the hash of the request of each pair */
async function repeats({ proof, stand, provider, id, content }: Stage): Promise<ReadonlyMap<string, string>> {
  provider.isKeeping = true
  provider.isFirstOverloaded = true
  const base64 = content.toString('base64')
  const bodies = new Map<string, string>()
  const wrong: string[] = []
  for (const pair of FILE_PAIRS) {
    const before = provider.got.length
    const status = await callWithFile(stand, pair, { id })
    const got = provider.got.slice(before)
    const [one, other] = got
    if (one !== undefined) bodies.set(nameOf(pair), one.sha256)
    const isSame = got.length === 2 && one?.sha256 === other?.sha256 && one?.nth === 1 && other?.nth === 2
    if (status !== 200 || !isSame) wrong.push(`${nameOf(pair)}: ${status}, ${got.map(textOf).join('; ')}`)
    if (!got.every((request) => request.isMeasured && hasContent(request, base64)))
      wrong.push(`${nameOf(pair)}: another content`)
  }
  provider.isKeeping = false
  provider.isFirstOverloaded = false
  for (const text of wrong) proof.say(text)
  proof.check(
    'the next endpoint gets the same bytes, with the content and their length, in all nine pairs',
    wrong.length === 0,
    `${wrong.length} of ${FILE_PAIRS.length} are wrong`,
  )
  return bodies
}

function textOf({ nth, bytes, sha256 }: GotRequest): string {
  return `${nth}: ${bytes} B ${sha256.slice(0, 8)}`
}

/** The request is JSON, and one of its texts has the whole content. */
function hasContent({ body }: GotRequest, base64: string): boolean {
  let isFound = false
  JSON.parse(body.toString(), (_, value: unknown) => {
    if (typeof value === 'string' && value.endsWith(base64)) isFound = true
    return value
  })
  return isFound
}

async function atOnce(
  { proof, stand, provider, id }: Stage,
  { calls, settleMs }: typeof FULL,
  bodies: ReadonlyMap<string, string>,
): Promise<void> {
  await pause(settleMs)
  const watch = watchMemory(stand.pid)
  const idleBytes = watch.nowBytes
  const before = provider.got.length
  const statuses: Record<number, number> = {}
  const pairs = Array.from({ length: calls }, (_, nth) => FILE_PAIRS[nth % FILE_PAIRS.length])
  const held = await provider.holding(calls, () =>
    Promise.all(
      pairs.map(async (pair) => {
        if (pair === undefined) return
        const status = await callWithFile(stand, pair, { id }).catch(() => 0)
        statuses[status] = (statuses[status] ?? 0) + 1
      }),
    ),
  )
  watch.stop()
  const got = provider.got.slice(before)
  proof.check(
    `${calls} calls at once are answered`,
    statuses[200] === calls,
    `${tally(statuses)}; ${held} requests were under way at once`,
  )
  const known = new Set(bodies.values())
  const others = got.filter(({ sha256, isMeasured }) => !known.has(sha256) || !isMeasured)
  proof.check('each provider gets the same bytes as before', others.length === 0, `${others.length} others`)
  const grown = watch.peakBytes - idleBytes
  const text = `all processes of the node grow by at most ${GROWTH_BYTES_MAX / MIB} MB`
  proof.check(text, grown <= GROWTH_BYTES_MAX, `${(grown / MIB).toFixed(0)} MB`)
}

/** Ids that do not belong to the key's workspace. */
async function strangers({ proof, stand, provider, id }: Stage): Promise<void> {
  const manage = async (path: string, body: object): Promise<Readonly<Record<string, unknown>>> => {
    const headers = {
      authorization: `Bearer ${stand.keys.management_key}`,
      'content-type': 'application/json',
    }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const made = await fetch(`http://127.0.0.1:${stand.port}/api/v1${path}`, init)
    return (await made.json()) as Readonly<Record<string, unknown>>
  }
  const { data } = await manage('/workspaces', { name: 'Other', slug: 'other' })
  const workspace = String((data as { readonly id?: unknown } | undefined)?.id)
  const { key } = await manage('/keys', { name: 'other', workspace_id: workspace })
  const removed = await upload(stand, pdfOf(MIB))
  await fetch(`http://127.0.0.1:${stand.port}/api/v1/files/${removed}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${stand.keys.inference_key}` },
  })
  const before = provider.got.length
  const statuses: Record<number, number> = {}
  for (const pair of FILE_PAIRS)
    for (const asked of [{ id, key: String(key) }, { id: removed }]) {
      const status = await callWithFile(stand, pair, asked)
      statuses[status] = (statuses[status] ?? 0) + 1
    }
  proof.check(
    'files of another workspace and removed ones are 404, and reach no provider',
    statuses[404] === 2 * FILE_PAIRS.length && provider.got.length === before,
    `${tally(statuses)}; ${provider.got.length - before} requests`,
  )
}

async function upload({ port, keys }: Stand, content: Buffer): Promise<string> {
  const form = new FormData()
  form.append('file', new Blob([content], { type: 'application/pdf' }), 'a.pdf')
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${keys.inference_key}` },
    body: form,
  })
  const { id } = (await response.json()) as { readonly id?: string }
  if (id === undefined) throw new Error(`the file was not stored: ${response.status}`)
  return id
}

/** The table of hostile destinations, as addresses of media. */
async function addresses(proof: Proof): Promise<void> {
  const { tries, wrong, trapped, opened, good } = await attack(fetched)
  for (const text of wrong) proof.say(text)
  proof.check('no hostile address is fetched', wrong.length === 0, `${wrong.length} of ${tries} are`)
  proof.check(
    '0 connections arrive at the trap, and 0 sockets are opened',
    trapped + opened === 0,
    `${trapped} connections, ${opened} sockets`,
  )
  const [first, ...redirects] = good
  const followed = redirects.filter((text) => text !== REFUSED)
  proof.check(
    'a good address is fetched, its redirects are not followed',
    first === GOOD && followed.length === 0,
    `it said ${first}; ${followed.length} of ${redirects.length} redirects`,
  )
}

const REFUSED = 'destination_refused'
const GOOD = 'here'

/** No answer from there is a medium, and neither is that of the good destination. */
const fetched: Reach = async (egress, { host, port }) => {
  const media = new CallMedia(egress, {
    caller: { organizationId: 'o', workspaceId: 'w', key: 'k' },
    deadlineAt: performance.now() + FETCH_MS,
    call: { signal: new AbortController().signal },
  })
  const address = `https://${host}${port === null ? '' : `:${port}`}/`
  const outcome = await media.load([{ url: address, path: '/messages/0/content/0', isImage: false }])
  media.release()
  if (outcome.ok || outcome.failure.name === 'input_unsupported') return GOOD
  return outcome.failure.name === 'media_unavailable' ? REFUSED : outcome.failure.name
}

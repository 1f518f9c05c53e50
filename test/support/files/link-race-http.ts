/**
 * The race of link-race.ts against a whole node: reads, writes, listings and promotions by HTTP while a
 * sandbox swaps links in.
 */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { heldBy, type FileStand } from './file-stand.ts'
import { OPENS_TIMES_MAX, type RaceResult } from './link-race.ts'
import { startSwapper } from './link-swapper.ts'
import { until } from '../wait.ts'

const SECRET = 'from outside'
const CONTAINER = '/api/v1/containers/sess_links/files'

/** Reads of a path id that decodes to something outside, and what they were answered with if not 404. */
export async function readOutside(node: FileStand): Promise<readonly string[]> {
  const outside = await makeOutside(node)
  const wrong: string[] = []
  const agent = new Agent({ connections: 1 })
  const paths = [
    '../outside/file',
    '..',
    '.',
    '/etc/passwd',
    `${outside}/file`,
    '../../outside/file',
    'dir/../../outside/file',
    './file',
    'file\0',
    'dir//file',
    '',
    '/',
    'dir/',
  ]
  for (const path of paths) {
    for (const suffix of ['/content', '']) {
      const { status, text } = await get(agent, node, `${idOf(path)}${suffix}`)
      if (status !== 404 || text.includes(SECRET)) wrong.push(`${JSON.stringify(path)}${suffix}: ${status}`)
    }
  }
  await agent.close()
  return wrong
}

export async function raceLinksOverHttp(node: FileStand, opens: number): Promise<RaceResult> {
  const container = join(node.folder, 'containers', node.workspaceId, 'sess_links')
  const outside = await makeOutside(node)
  await mkdir(join(container, 'dir'), { recursive: true })
  for (const path of ['file', 'dir/file']) await writeFile(join(container, path), 'inside')
  const agent = new Agent({ connections: 8 })
  const swapper = startSwapper({ container, outside })
  await swapper.begun
  const leaks: string[] = []
  const counts = { read: 0, unknown: 0 }
  // The thread may begin late, or stand still.
  const isNoRace = (): boolean => counts.read === 0 || counts.unknown === 0
  const readers = Array.from({ length: 8 }, async (_, reader) => {
    for (let nth = reader; nth < opens || (isNoRace() && nth < OPENS_TIMES_MAX * opens); nth += 8) {
      const path = nth % 2 === 0 ? 'dir/file' : 'file'
      const { status, text } = await get(agent, node, `${idOf(path)}/content`)
      if (status === 404) counts.unknown++
      else if (status === 200) counts.read++
      if (text.includes(SECRET) || (status === 200 && text !== 'inside'))
        leaks.push(`read ${path}: ${status} ${text}`)
      if (nth % 50 === 0) leaks.push(...(await others(agent, node, { outside, nth })))
    }
  })
  await Promise.all(readers)
  const swaps = await swapper.stop()
  await agent.close()
  await until(() => heldBy(node).length === 0).catch(() => undefined)
  return { opens, ...counts, swaps, leaks, descriptorsLeaked: heldBy(node).length }
}

async function makeOutside(node: FileStand): Promise<string> {
  const outside = join(node.folder, 'containers', node.workspaceId, 'outside')
  await mkdir(outside, { recursive: true })
  await writeFile(join(outside, 'file'), SECRET)
  return outside
}

/** A promotion, a listing and a write. */
async function others(
  agent: Agent,
  node: FileStand,
  { outside, nth }: { readonly outside: string; readonly nth: number },
): Promise<readonly string[]> {
  const leaks: string[] = []
  const promoted = await get(agent, node, `${idOf('dir/file')}/promote`, 'POST')
  if (promoted.status === 200) {
    const { id, size_bytes: sizeBytes } = JSON.parse(promoted.text) as {
      readonly id: string
      readonly size_bytes: number
    }
    if (sizeBytes === SECRET.length) leaks.push(`promoted ${promoted.text}`)
    await node.remove(id)
  }
  const listed = await get(agent, node, '')
  const { data } = JSON.parse(listed.text) as {
    readonly data: readonly { readonly size_bytes?: number; readonly bytes?: number }[]
  }
  for (const row of data)
    if (row.size_bytes === SECRET.length || row.bytes === SECRET.length)
      leaks.push(`listed ${JSON.stringify(row)}`)
  await get(agent, node, `dir/put-${nth}`, 'PUT')
  const names = await readdir(outside)
  const isTouched = names.length !== 1 || (await readFile(join(outside, 'file'), 'utf8')) !== SECRET
  return isTouched ? [...leaks, `written outside: ${names.join(' ')}`] : leaks
}

interface Got {
  readonly status: number
  readonly text: string
}

async function get(
  agent: Agent,
  { stand }: FileStand,
  rest: string,
  method: 'GET' | 'POST' | 'PUT' = 'GET',
): Promise<Got> {
  const answer = await request(`http://127.0.0.1:${stand.port}${CONTAINER}${rest === '' ? '' : `/${rest}`}`, {
    dispatcher: agent,
    method,
    headers: { authorization: `Bearer ${stand.keys.inference_key}` },
    ...(method === 'PUT' ? { body: 'written' } : {}),
  })
  return { status: answer.statusCode, text: await answer.body.text() }
}

function idOf(path: string): string {
  return `cfile_${Buffer.from(path).toString('base64url')}`
}

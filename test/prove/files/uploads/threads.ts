import { statSync } from 'node:fs'
import type { FileStand } from '../../../support/files/file-stand.ts'
import type { UploadClient } from '../../../support/files/upload-client.ts'
import { until } from '../../../support/nodes/node.ts'
import { pause } from '../../../support/nodes/spawned.ts'
import { breakThreads } from '../../../support/nodes/thread-breaker.ts'
import type { Proof } from '../../proof.ts'
import { aftermath } from './aftermath.ts'

const SIZE_BYTES = 4_000_000
const UPLOADS = 8
const TRIES_MAX = 3

/**
 * Settings of the node: the inspector of each process gets a free port; the usual one may be in use.
 */
export const INSPECTED = { NODE_OPTIONS: '--inspect-port=0' }

/** Worker threads that end, or that do not answer any more, in the midst of files. */
export async function threads(proof: Proof, node: FileStand): Promise<void> {
  for (const how of ['end', 'hang'] as const) {
    for (const leaver of ['none', 'FIN', 'RST'] as const) {
      const what = `a thread that ${how === 'end' ? 'ends' : 'hangs'} under ${UPLOADS} uploads${leaver === 'none' ? '' : ` whose clients leave by ${leaver}`}`
      if (leaver === 'none') {
        const texts = await reportedTo(node, how)
        proof.check(`${what}: each gets 503`, texts.join() === '503 busy', texts.join(', '))
      } else {
        const clients = await inTheMidst(node, how)
        // The window is full by now: the sockets are paused.
        for (const client of clients) void client.sendTo(SIZE_BYTES)
        await pause(300)
        for (const client of clients) client.leave(leaver)
      }
      await aftermath(proof, node, { what })
      if (proof.isShort) break
    }
  }
}

/** Clients whose files were half sent when the threads were broken. */
async function inTheMidst(node: FileStand, how: 'end' | 'hang'): Promise<readonly UploadClient[]> {
  const clients = await Promise.all(
    Array.from({ length: UPLOADS }, async () => {
      const client = node.client(SIZE_BYTES)
      await client.begin()
      await client.sendTo(SIZE_BYTES / 2)
      return client
    }),
  )
  // What a client has sent may still be on its way: each file must have begun in a thread that is broken.
  await until('each is in the midst of its file', () => begun(node) === UPLOADS)
  const [pid = 0] = node.stand.fronts()
  await breakThreads(pid, how)
  return clients
}

/**
 * The answers to clients that go on. Where it takes longer to break threads than a body may rest, they get an
 * error that says so, and it is tried again.
 */
async function reportedTo(node: FileStand, how: 'end' | 'hang'): Promise<readonly string[]> {
  for (let tries = 1; ; tries++) {
    const clients = await inTheMidst(node, how)
    const answers = await Promise.all(clients.map((client) => client.finish()))
    const texts = [...new Set(answers.map(({ status, type }) => `${status} ${type}`))]
    if (tries === TRIES_MAX || !texts.some((text) => text.endsWith(' body_slow'))) return texts
    await until('all have ended', () => node.staging().length === 0)
  }
}

function begun(node: FileStand): number {
  return node.staging().filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0).length
}

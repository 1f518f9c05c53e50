/**
 * Hangs or ends the worker threads of a running process from outside, through the inspector that Node opens
 * on SIGUSR1.
 */
import { WebSocket } from 'undici'
import { listeningPortsOf } from '../wire/sockets.ts'
import { until } from './node.ts'
import { pause } from '../wait.ts'

/** Longer than a silent thread is given, also by a front whose looks are late. The front ends the thread. */
const HANG_MS = 30_000

/** All threads at once: which of them holds which session is theirs to know. */
export async function breakThreads(pid: number, how: 'hang' | 'end'): Promise<number> {
  const before = listeningPortsOf(pid)
  process.kill(pid, 'SIGUSR1')
  let port = 0
  await until('the inspector listens', async () => {
    for (const candidate of listeningPortsOf(pid)) {
      if (port === 0 && (!before.has(candidate) || (await addressAt(candidate)) !== null)) port = candidate
    }
    return port !== 0
  })
  const address = await addressAt(port)
  if (address === null) throw new Error('the inspector does not say where it is')
  const expression =
    how === 'end' ? 'process.exit(1)' : `{ const end = Date.now() + ${HANG_MS}; while (Date.now() < end); }`
  return inThreads(address, expression)
}

async function addressAt(port: number): Promise<string | null> {
  try {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`, {
      signal: AbortSignal.timeout(1_000),
      headers: { connection: 'close' },
    })
    const [target] = (await answer.json()) as { readonly webSocketDebuggerUrl?: string }[]
    return target?.webSocketDebuggerUrl ?? null
  } catch {
    return null
  }
}

/** @returns how many threads there are */
async function inThreads(address: string, expression: string): Promise<number> {
  const socket = new WebSocket(address)
  await new Promise((resolve, reject) => {
    socket.addEventListener('open', resolve, { once: true })
    socket.addEventListener('error', () => reject(new Error('the inspector does not answer')), { once: true })
  })
  let nth = 0
  const say = (method: string, params: object): void =>
    socket.send(JSON.stringify({ id: ++nth, method, params }))
  const threads: string[] = []
  await new Promise<void>((resolve) => {
    socket.addEventListener('message', ({ data }) => {
      const message = JSON.parse(String(data)) as {
        readonly id?: number
        readonly method?: string
        readonly params?: { readonly sessionId?: string }
      }
      if (message.method === 'NodeWorker.attachedToWorker') threads.push(message.params?.sessionId ?? '')
      // Threads that run already are reported before the answer.
      if (message.id === 1) resolve()
    })
    say('NodeWorker.enable', { waitForDebuggerOnStart: false })
  })
  for (const sessionId of threads) {
    say('NodeWorker.sendMessageToWorker', {
      sessionId,
      message: JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression } }),
    })
  }
  await pause(200)
  socket.close()
  return threads.length
}

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../load/load.ts'
import type { MockReady, MockSettings } from './mock-provider.ts'
import { stopServer } from '../nodes/spawned.ts'

export interface Mock extends MockReady {
  readonly pid: number
  stop(): Promise<void>
}

/**
 * Starts the quick provider of load runs in a process of its own. Scripted misbehaviour is provider.ts's
 * matter.
 */
export async function startMock(settings: MockSettings): Promise<Mock> {
  const child = fork(fileURLToPath(new URL('./mock-provider.js', import.meta.url)), {
    env: plainEnvironment(),
    execArgv: [],
  })
  const answered = new Promise<MockReady>((resolve, reject) => {
    child.once('message', (message: MockReady) => resolve(message))
    child.once('exit', () => reject(new Error('the mock provider did not start')))
  })
  child.send(settings)
  return { ...(await answered), pid: child.pid ?? 0, stop: () => stopServer(child) }
}

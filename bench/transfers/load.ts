import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../test/support/load/load.ts'
import type { TransferPlan, TransferResult } from './plan.ts'

const PROGRAM = fileURLToPath(new URL('./load-process.js', import.meta.url))

/**
 * Runs a plan in a process of its own; `started` is called when its payload is made and its connections open.
 */
export function runTransfers(plan: TransferPlan, started: () => void = () => {}): Promise<TransferResult> {
  // JSON cannot carry an infinite number of rounds.
  const child = fork(PROGRAM, { env: plainEnvironment(), execArgv: [], serialization: 'advanced' })
  return new Promise((resolve, reject) => {
    child.on('message', (message: TransferResult | 'started') => {
      if (message === 'started') started()
      else resolve(message)
    })
    child.once('error', reject)
    child.once('exit', (code, signal) =>
      reject(new Error(`the generator of transfers ended early: ${code ?? signal}`)),
    )
    child.send(plan)
  })
}

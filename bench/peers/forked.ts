/** Programs of the bench in processes of their own. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { YOUNG_HEAP } from '../../src/server/supervisor/fleet/child.ts'
import { plainEnvironment } from '../../test/support/load/load.ts'

export interface ForkedMore {
  /** Name for the message of a program that ends instead of starting. */
  readonly name: string
  readonly env?: Readonly<Record<string, string>>
  /** Options of Node beside those of the product's fronts. */
  readonly execArgv?: readonly string[]
  /** What the program prints is dropped. */
  readonly isQuiet?: boolean
}

/** Starts a program with its settings, and waits until it says that it is ready. */
export async function startForked(file: string, settings: object, more: ForkedMore): Promise<ChildProcess> {
  // The process has a session of its own, as the product's fronts have: the kernel distributes cores by
  // session (autogroup).
  const child = fork(file, {
    env: { ...plainEnvironment(), NODE_ENV: 'production', ...more.env },
    execArgv: [...YOUNG_HEAP, ...(more.execArgv ?? [])],
    stdio: ['ignore', more.isQuiet === true ? 'ignore' : 'inherit', 'inherit', 'ipc'],
    detached: true,
  })
  child.send(settings)
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`the ${more.name} did not start`)
    }),
  ])
  return child
}

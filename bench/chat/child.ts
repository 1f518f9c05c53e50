/** Processes of the scenario `chat`, each in a session of its own. */
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { YOUNG_HEAP } from '../../src/server/supervisor/fleet/child.ts'
import { plainEnvironment } from '../../test/support/load/load.ts'

/** Starts `bench/chat/<name>.ts` with its settings; it says that it is ready. */
export async function startChild(
  name: 'pacer' | 'relay' | 'generator',
  settings: object,
): Promise<ChildProcess> {
  // The kernel distributes cores by session (autogroup).
  const child = fork(fileURLToPath(new URL(`./${name}.js`, import.meta.url)), {
    env: { ...plainEnvironment(), NODE_ENV: 'production' },
    execArgv: [...YOUNG_HEAP],
    detached: true,
  })
  child.send(settings)
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => {
      throw new Error(`the ${name} did not start`)
    }),
  ])
  return child
}

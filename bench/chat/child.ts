/** Processes of the scenario `chat`, each in a session of its own. */
import type { ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startForked, type ForkedMore } from '../peers/forked.ts'

/** Starts `bench/chat/<name>.ts` with its settings; it says that it is ready. */
export function startChild(
  name: 'pacer' | 'relay' | 'generator',
  settings: object,
  more: Pick<ForkedMore, 'env' | 'execArgv'> = {},
): Promise<ChildProcess> {
  return startForked(fileURLToPath(new URL(`./${name}.js`, import.meta.url)), settings, { name, ...more })
}

/** Validators as subjects of a bench: each in a process of its own, with one request at a time. */
import { fork, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { plainEnvironment } from '../../test/support/load/load.ts'
import { stopServer } from '../../test/support/nodes/spawned.ts'
import { NO_PEERS, packageVersion } from '../peers.ts'
import type { Absent } from '../target.ts'
import type { Found, ValidatorName, ValidatorSettings, Input } from './settings.ts'

export interface Subject {
  readonly name: ValidatorName
  readonly note: string
  run(input: Input): Promise<Found>
  stop(): Promise<void>
}

const PROCESS = fileURLToPath(new URL('./process.js', import.meta.url))
/** Package, folder and use of each validator. */
const PACKAGES: Readonly<Record<ValidatorName, readonly [name: string, folder: string, how: string]>> = {
  sluice: ['typebox', 'node_modules', 'compiled, as the product has it'],
  'typebox-0.34': ['@sinclair/typebox', 'node_modules', 'compiled, the same shapes in its own words'],
  ajv: [
    'ajv',
    'tools/peers/node_modules',
    'compiled from the same JSON Schema; it stops at the first mistake',
  ],
  zod: [
    'zod',
    'tools/peers/node_modules',
    'made from the same JSON Schema by its own reader; it copies what it accepts and lists every mistake',
  ],
}

/** @param root root of the repository */
export async function startValidator(name: ValidatorName, root: string): Promise<Subject | Absent> {
  const [packageName, folder, how] = PACKAGES[name]
  const installed = join(root, folder, packageName)
  if (!existsSync(installed)) return { name, absent: NO_PEERS }
  const child = fork(PROCESS, { env: plainEnvironment(), execArgv: [], detached: true })
  const settings: ValidatorSettings = { name, packages: join(root, 'tools/peers') }
  await ask(child, settings)
  return {
    name,
    note: `${packageName} ${packageVersion(installed)}, ${how}`,
    run: (input) => ask(child, input) as Promise<Found>,
    stop: () => stopServer(child),
  }
}

function ask(child: ChildProcess, message: ValidatorSettings | Input): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const ended = (): void => reject(new Error('a validator ended'))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      resolve(answer)
    })
    child.send(message)
  })
}

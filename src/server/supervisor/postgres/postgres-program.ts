import { once } from 'node:events'
import { join } from 'node:path'
import { POSTGRES_ENVIRONMENT } from './postgres-binaries.ts'
import { EmbeddedPostgresError } from './postgres-error.ts'
import { launch, type Account } from '../fleet/step-down.ts'

export interface ProgramRun {
  readonly account: Account | null
  readonly setpriv: string | null
  readonly bin: string
  readonly name: 'initdb' | 'postgres'
  readonly args: readonly string[]
  readonly input?: string
}

/**
 * Runs a Postgres program to its end; the program ends with this process. Throws with its last output when it
 * fails.
 */
export async function runPostgresProgram(run: ProgramRun): Promise<void> {
  const child = launch(join(run.bin, run.name), run.args, {
    account: run.account,
    setpriv: run.setpriv,
    // A partial initdb is useless, and would go on writing while the next start checks its folder.
    deathSignal: 'KILL',
    options: { cwd: '/', env: POSTGRES_ENVIRONMENT, stdio: ['pipe', 'ignore', 'pipe'] },
  })
  let said = ''
  child.stderr?.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-500)))
  child.stdin?.on('error', () => {})
  child.stdin?.end(run.input ?? '')
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0)
    throw new EmbeddedPostgresError(`${run.name} failed (${said.trim() || `exit code ${code}`})`)
}

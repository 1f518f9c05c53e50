import type { Command } from 'commander'
import { runningSupervisor } from '../supervisor/data-directory.ts'
import { loadModels } from './models.ts'
import { addVerb, CliFailure, loadGeneration, print } from './verb.ts'

/** `serve`, `migrate`, `reload`. */
export function addNodeVerbs(program: Command, outcome: { code: number | null }): void {
  addVerb(program, 'serve', 'run a node until it is told to end').action(async () => {
    const { serve } = await import('../main.ts')
    outcome.code = await serve()
  })
  const migrate = addVerb(program, 'migrate', 'bring the schema of the database up to this version')
  migrate.action(async (options: { json?: boolean }) => {
    const { migrateNow } = await import('./stores.ts')
    const { at } = await migrateNow()
    print(options, { migration: at }, `the schema is at migration ${at}`)
  })
  const reload = addVerb(program, 'reload', 'make the running node read its configuration again')
  reload.action((options: { json?: boolean }) => {
    // The node would refuse them too, but only its log would say so.
    const { config } = loadGeneration()
    loadModels(config.catalogFile)
    const running = runningSupervisor(config.dataDir)
    if (running === null) throw new CliFailure(`no node runs on ${config.dataDir}`)
    try {
      process.kill(running.pid, 'SIGHUP')
    } catch (cause) {
      const hint = 'does it belong to another user?'
      throw new CliFailure(`the node (pid ${running.pid}) cannot be told: ${hint}`, { cause })
    }
    print(options, { pid: running.pid }, `the node (pid ${running.pid}) reads its configuration again`)
  })
}

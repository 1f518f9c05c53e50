import type { Command } from 'commander'
import { readReload, untilReloaded, type ReloadRecord } from '../../supervisor/reload-record.ts'
import { catalogueName, loadModels, noteDifference } from '../parts/load-models.ts'
import { addVerb, CliFailure, loadGeneration, print, tell } from '../parts/verb.ts'
import { runningNode } from '../parts/node-api.ts'

/** `serve`, `migrate`, `reload`. */
export function addTo(program: Command, outcome: { code: number | null }): void {
  addVerb(program, 'serve', 'run a node until it is stopped').action(async () => {
    const { serve } = await import('../../main.ts')
    outcome.code = await serve()
  })
  const migrate = addVerb(program, 'migrate', 'migrate the database schema to this version')
  migrate.action(async (options: { json?: boolean }) => {
    const { migrateNow } = await import('../parts/stores.ts')
    const { at } = await migrateNow()
    print(options, { migration: at }, `the schema is at migration ${at}`)
  })
  const reload = addVerb(
    program,
    'reload',
    'reload the configuration of the running node and wait until it is active',
  )
  reload.action(async (options: { json?: boolean }) => {
    // The node would refuse a faulty configuration too, but only its log would show the faults.
    const { config } = loadGeneration()
    loadModels(config.catalogFile)
    const running = runningNode(config.dataDir)
    const before = readReload(config.dataDir)
    try {
      process.kill(running.pid, 'SIGHUP')
    } catch (cause) {
      const hint = 'the process may belong to another user'
      throw new CliFailure(`the node (pid ${running.pid}) cannot be signalled: ${hint}`, { cause })
    }
    const node = `the node (pid ${running.pid})`
    // A node that is starting or has another version has received the signal, but only its log shows the result.
    if (before === null) return print(options, { pid: running.pid }, `${node} was signalled; check its log`)
    if (options.json !== true) tell({}, null, `${node} is replacing its processes one by one`)
    const { needRestart, catalogFile } = wellEnded(node, await untilReloaded(config.dataDir, before.number))
    noteDifference(config, options)
    const left = needRestart.length === 0 ? '' : `; restart the node to apply ${needRestart.join(', ')}`
    const used = catalogFile === undefined ? '' : `, with ${catalogueName(catalogFile)}`
    print(
      options,
      { pid: running.pid, need_restart: needRestart, catalog_file: catalogFile ?? null },
      `${node} now uses the new configuration${used}${left}`,
    )
  })
}

function wellEnded(node: string, record: ReloadRecord | null): ReloadRecord {
  if (record === null) throw new CliFailure(`${node} exited before the reload finished`)
  if (record.state === 'done') return record
  throw new CliFailure(`${node} could not reload: ${record.reason ?? 'look at its log'}`)
}

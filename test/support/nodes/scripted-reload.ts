import { readFileSync } from 'node:fs'
import { readFrom, type Config } from '../../../src/server/config.ts'
import type { Texts } from '../../../src/server/config/texts.ts'
import type { RollInput } from '../../../src/server/supervisor/fleet/slots.ts'
import type { ChildPart } from '../../../src/server/supervisor/fleet/ipc.ts'
import type { NodeGeneration } from '../../../src/server/supervisor/node-setup.ts'
import type { ReloadRecord } from '../../../src/server/supervisor/reload-record.ts'
import { Reloader } from '../../../src/server/supervisor/reload.ts'
import { keptLog } from '../log.ts'

/** A reloader whose rolls end when the test says so. */
export function scriptedReload(settings: Texts = {}) {
  const log = keptLog()
  const rolls: RollInput[] = []
  const tell: ReloadRecord[] = []
  const adopted: NodeGeneration[] = []
  const checked: number[] = []
  let end: (problem: Error | null) => void = () => undefined
  let refusal: Error | null = null
  const first = generationOf(settings)
  let next = first
  const reloader = new Reloader({
    setup: {
      log: { ...log, release: () => undefined, flush: () => undefined },
      rereadGeneration: () => Promise.resolve(next),
    },
    fleet: {
      roll(_parts: readonly ChildPart[], input: RollInput = {}) {
        rolls.push(input)
        return new Promise((resolve, reject) => {
          end = (problem) => (problem === null ? resolve() : reject(problem))
        })
      },
    },
    first,
    childSetup: () => [],
    check({ config }) {
      checked.push(config.fronts)
      return refusal === null ? Promise.resolve() : Promise.reject(refusal)
    },
    adopt: (generation) => void adopted.push(generation),
    tell: (record) => void tell.push(record),
  })
  return {
    reloader,
    rolls,
    tell,
    log,
    adopted,
    first,
    checked,
    next: (texts: Texts) => void (next = generationOf(texts)),
    endRoll: (problem: Error | null = null) => end(problem),
    /** What every check says from now on. */
    refuse: (problem: Error | null) => void (refusal = problem),
  }
}

function generationOf(settings: Texts): NodeGeneration {
  const reading = readFrom(settings)
  if (!reading.ok) throw new Error('bad settings')
  const { generation } = reading
  return { ...generation, frozen: frozenOf(generation.config), providerKeys: {}, misplaced: null, advice: [] }
}

function frozenOf({ tls }: Config): Texts {
  if (tls === null) return {}
  return {
    SLUICE_TLS_CERT: readFileSync(tls.certFile, 'utf8'),
    SLUICE_TLS_KEY: readFileSync(tls.keyFile, 'utf8'),
  }
}

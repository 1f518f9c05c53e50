import { readFileSync } from 'node:fs'
import { variablesOf } from '../../schemas/workspaces/provider-keys.ts'
import { Secret } from '../../schemas/vault/secret.ts'
import { checkAside, type CheckedCatalogue } from '../catalogue/check-aside.ts'
import { loadCatalogue } from '../catalogue/load.ts'
import { misplacedAdvice, operatorKeys } from '../catalogue/operator-keys.ts'
import { SHIPPED_CATALOGUE } from '../catalogue/shipped.ts'
import { lineOf, type CatalogueProblem } from '../catalogue/sources.ts'
import { ConfigInvalid, hasColour, readConfig, type Config, type Generation } from '../config.ts'
import type { Problem, Texts } from '../config/texts.ts'
import { endOnCrash, endWith } from '../observe/crash.ts'
import { exposedHeap, heapCollector } from '../observe/heap-collector.ts'
import { takeLibraryLines } from '../observe/library-lines.ts'
import { createLog } from '../observe/log.ts'
import { MetricLedger, type Answer } from '../observe/metric-ledger.ts'
import { aggregate } from '../observe/metrics.ts'
import { redisMark } from '../redis/mark.ts'
import { openState, setHz } from '../redis/open.ts'
import { holdLog } from '../supervisor/held-log.ts'
import { runNode } from '../supervisor/node.ts'
import type { NodeGeneration, NodeStore, PreparedFiles } from '../supervisor/node-setup.ts'
import { StartRefused } from '../supervisor/start-refused.ts'
import { openOrMakeRootKeys, RootKeyInvalid } from '../vault/root-keys.ts'
import { secretsOf, stateAddress } from './child.ts'
import { countRoots } from './extra-roots.ts'
import { openNodeJournals } from './journals.ts'
import { missingRootKeys } from './missing-root-keys.ts'
import { hasRootKey, ownRootKeysOf, safekeeping, unpricedEndpoints } from './safekeeping.ts'
import { factsOf } from './node-facts.ts'
import { openNodeStore, reachPostgres } from './node-store.ts'
import { objectsPlace, openStorage, placeOfObjects } from './storage.ts'

/** Milliseconds after which a supervisor collects the garbage of its start: it allocates little from then on. */
const COLLECT_AFTER_MS = 30_000

/** Runs a node until it is ended. @returns the exit code; throws `ConfigInvalid` or `StartRefused` */
export async function serve(): Promise<number> {
  const first = readGeneration()
  const lines = createLog({
    level: first.config.logLevel,
    format: first.config.logFormat,
    hasColour: hasColour(process.stdout),
    base: { role: 'supervisor' },
    secrets: secretsOf(first),
  })
  const log = holdLog(lines, lines.flush)
  endOnCrash({ error: log.error, flush: lines.flush })
  takeLibraryLines((text) => log.warn('library_line', { text }))
  const ledger = new MetricLedger()
  const openStore = openNodeStore(log)
  const hidden = (generation: NodeGeneration): NodeGeneration => {
    lines.hide(secretsOf(generation))
    return generation
  }
  const node = runNode({
    log,
    readGeneration: () => hidden(readGeneration()),
    rereadGeneration: async () => hidden(await rereadGeneration()),
    adopt: ({ config }) => lines.setLevel(config.logLevel),
    reachPostgres,
    openStore(url, place) {
      lines.hide([new Secret(url)])
      return openStore(url, place)
    },
    prepareStorage,
    prepareFiles,
    objectsPlace,
    advice: ({ config, advice }) => [...safekeeping(config), ...advice],
    openRedis: (address) => {
      const state = openState({ ...stateAddress(address), log, isJudging: 'url' in address })
      return {
        isUp: (waitMsMax = 0) => state.whenReachable(waitMsMax),
        onChange: (listener) => state.onChange(listener),
        isCluster: () => state.isCluster(),
        setHz: (hz) => setHz(state, hz),
        mark: redisMark(state),
        close: () => state.close(),
      }
    },
    openJournals: (place) => openNodeJournals(place, log),
    // The answers are plain data from another process of this version.
    metrics: async (answers, gauges) =>
      aggregate(await ledger.read(answers as readonly Answer[]), factsOf(gauges, lines.dropped)),
  })
  setTimeout(() => heapCollector(exposedHeap())(), COLLECT_AFTER_MS).unref()
  return node.catch((problem: unknown) => {
    // The messages of these two errors are written for the operator.
    if (problem instanceof StartRefused || problem instanceof ConfigInvalid) throw problem
    endWith(problem)
  })
}

/** Creates the folders before any child starts: the children would all create them at once, and report less clearly why they cannot. */
async function prepareStorage(config: Config): Promise<void> {
  try {
    await (await openStorage(config)).close()
  } catch (problem) {
    const why = problem instanceof Error ? problem.message : String(problem)
    throw new StartRefused(`SLUICE_OBJECTS: files cannot be stored in ${placeOfObjects(config)}: ${why}`, {
      cause: problem,
    })
  }
}

/** Prepares the root keys before any child starts. If rows need a missing key, it creates no root key and refuses the start. */
async function prepareFiles(config: Config, store: Pick<NodeStore, 'rootKeyUses'>): Promise<PreparedFiles> {
  const { rootKey: setting, rootKeyFile: file, dataDir, rootKeysLost } = config
  const uses = await store.rootKeyUses()
  try {
    const here = hasRootKey(config) ? ownRootKeysOf(config).ids : []
    const missing = missingRootKeys(uses, { here, lost: rootKeysLost }).filter(({ isGivenUp }) => !isGivenUp)
    if (missing.length > 0)
      throw new StartRefused(missing.map(({ detail, fix }) => `${detail}; ${fix}`).join('\n'))
    const { madeFile } = openOrMakeRootKeys({ setting, file, dataDir })
    return { place: placeOfObjects(config), madeRootKey: madeFile }
  } catch (problem) {
    if (problem instanceof RootKeyInvalid) throw new StartRefused(problem.message)
    throw problem
  }
}

/** Reads the configuration and the files that it names: all must be valid before anything is started or replaced. */
function readGeneration(): NodeGeneration {
  const { config, ...read } = readSettings()
  for (let text = textOf(config.catalogFile); ;) {
    const checked = rightOf(loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile: config.catalogFile }))
    const after = textOf(config.catalogFile)
    if (after === text) return generationOf({ config, ...read }, { checked, text })
    text = after
  }
}

/** Does the same as `readGeneration` for a running node: a large catalogue is checked in a thread. */
async function rereadGeneration(): Promise<NodeGeneration> {
  const { config, ...read } = readSettings()
  if ((textOf(config.catalogFile)?.length ?? 0) < CHECKED_HERE_CHARS_MAX) return readGeneration()
  for (let text = textOf(config.catalogFile); ;) {
    const checked = rightOf(
      await checkAside({ shippedFile: SHIPPED_CATALOGUE, extraFile: config.catalogFile }),
    )
    const after = textOf(config.catalogFile)
    if (after === text) return generationOf({ config, ...read }, { checked, text })
    text = after
  }
}

/** Characters of a catalogue that the event loop checks in some 50 ms; a larger one is checked in a thread. */
const CHECKED_HERE_CHARS_MAX = 1_000_000

function readSettings(): Generation {
  const reading = readConfig()
  if (!reading.ok) throw new ConfigInvalid(reading.problems)
  return reading.generation
}

type RightCatalogue = Extract<CheckedCatalogue, { readonly ok: true }>

/** The checked catalogue and its text; a file that changed during the check is read again. */
interface ReadCatalogue {
  readonly checked: Pick<RightCatalogue, 'providers' | 'unpriced'>
  readonly text: string | null
}

function generationOf(
  { config, settings, unknown, providerKeys }: Generation,
  { checked, text }: ReadCatalogue,
): NodeGeneration {
  const { providers, unpriced } = checked
  const names = providers.flatMap(variablesOf)
  const secrets = providerKeys(names)
  const keys = [...secrets].map(([name, secret]) => [name, secret.reveal()] as const)
  const misplaced = misplacedAdvice(operatorKeys(providers, secrets).misplaced)
  const frozen = {
    ...(text === null ? {} : { SLUICE_CATALOG: text }),
    ...roots(frozenFile('SLUICE_EGRESS_CA', config.egressCaFile)),
    ...frozenFile('SLUICE_TLS_CERT', config.tls?.certFile ?? null),
    ...frozenFile('SLUICE_TLS_KEY', config.tls?.keyFile ?? null),
  }
  return {
    config,
    settings,
    unknown,
    frozen,
    providerKeys: Object.fromEntries(keys),
    misplaced,
    advice: [unpricedEndpoints(unpriced) ?? [], misplaced ?? []].flat(),
  }
}

function frozenFile(name: string, file: string | null): Texts {
  if (file === null) return {}
  try {
    return { [name]: readFileSync(file, 'utf8') }
  } catch {
    throw new ConfigInvalid([{ name, expected: 'a readable PEM file', got: JSON.stringify(file) }])
  }
}

/** Throws ConfigInvalid for roots that cannot be read: otherwise the fault would only be noticed when a certificate is refused. */
function roots(frozen: Texts): Texts {
  for (const [name, pem] of Object.entries(frozen)) {
    const count = countRoots(pem)
    const got = count === null ? 'an unreadable file' : 'none'
    if (count === null || count === 0)
      throw new ConfigInvalid([{ name, expected: 'a PEM file of certificates', got }])
  }
  return frozen
}

function textOf(extraFile: string | null): string | null {
  try {
    return extraFile === null ? null : readFileSync(extraFile, 'utf8')
  } catch {
    // Not readable, for example a folder: the catalogue's own loader reports the problem to the operator.
    return null
  }
}

function rightOf(checked: CheckedCatalogue): RightCatalogue {
  if (!checked.ok) throw new ConfigInvalid(checked.problems.map(problemOf))
  return checked
}

function problemOf(problem: CatalogueProblem): Problem {
  return { name: 'SLUICE_CATALOG', said: lineOf(problem), expected: problem.expected, got: problem.message }
}

import { loadCatalogue } from '../../catalogue/load.ts'
import { SHIPPED_CATALOGUE } from '../../catalogue/shipped.ts'
import { lineOf, type CatalogueProblem } from '../../catalogue/sources.ts'
import type { Config } from '../../config.ts'
import type { ModelCatalogue } from '../../ports/models/models.ts'
import { runningSupervisor } from '../../supervisor/data-directory/data-directory.ts'
import { readReload } from '../../supervisor/reload-record.ts'
import { quoted } from '../../config/program-name.ts'
import { CliFailure, tell } from './verb.ts'

/** The catalogue of an installation. Throws `CliFailure` with every mistake. */
export function loadModels(extraFile: string | null): ModelCatalogue {
  const loaded = loadCatalogue({ shippedFile: SHIPPED_CATALOGUE, extraFile })
  if (loaded.ok) return loaded.catalogue
  throw new CliFailure(`the catalogue has mistakes:\n${linesOf(loaded.problems)}`)
}

export function linesOf(problems: readonly CatalogueProblem[]): string {
  return problems.map(lineOf).join('\n')
}

type CatalogueConfig = Pick<Config, 'catalogFile' | 'dataDir'>

export interface CatalogueChoice {
  readonly file: string | null
  /** Set when the running node uses another file than the one named in the shell's environment. */
  readonly difference: { readonly detail: string; readonly fix: string } | null
}

/** The file named in the shell's environment, else the file of the running node, since only the node may have the setting. */
export function catalogueChoice(config: CatalogueConfig): CatalogueChoice {
  const { catalogFile: ours } = config
  const ofNode = catalogueOfNode(config.dataDir)
  if (ofNode === undefined || ofNode === ours) return { file: ours, difference: null }
  if (ours === null) return { file: ofNode, difference: null }
  const detail = `the running node uses ${catalogueName(ofNode)}, but SLUICE_CATALOG in this shell names ${ours}`
  return { file: ours, difference: { detail, fix: `restart the node with SLUICE_CATALOG=${quoted(ours)}` } }
}

/** Loads the catalogue of `catalogueChoice`; a difference is noted on stderr. Throws `CliFailure`. */
export function loadChosenModels(
  config: CatalogueConfig,
  options: { readonly json?: boolean } = {},
): ModelCatalogue {
  noteDifference(config, options)
  return loadModels(catalogueChoice(config).file)
}

/** Notes on stderr, for people, that the running node uses another file than the one named in the shell's environment. */
export function noteDifference(config: CatalogueConfig, options: { readonly json?: boolean }): void {
  const { difference } = catalogueChoice(config)
  if (difference !== null && options.json !== true)
    tell({}, null, `note: ${difference.detail}: ${difference.fix}`)
}

export function catalogueName(file: string | null): string {
  return file === null ? 'the shipped catalogue' : `the catalogue file ${file}`
}

/** Undefined: no node runs, it is of an older version, or its data directory cannot be read. */
function catalogueOfNode(dataDir: string): string | null | undefined {
  try {
    return runningSupervisor(dataDir)?.isVerb === false ? readReload(dataDir)?.catalogFile : undefined
  } catch {
    return undefined
  }
}

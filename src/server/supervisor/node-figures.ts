import { X509Certificate } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { every, type Repetition } from '../structures/ticks.ts'
import type { Disks } from './data-directory/disk-room.ts'
import type { Fleet } from './fleet/fleet.ts'
import type { DiskFigures, NodeFigures, NodeGauges, NodeStore } from './node-setup.ts'
import { clusterFolderOf } from './postgres/postgres-cluster.ts'
import type { ReadinessWatch } from './readiness.ts'

/** Milliseconds between two looks at disks and Postgres for the metrics, about the usual interval of scrapers. Decision. */
const FIGURES_LOOK_MS = 15_000

export interface FiguresOptions {
  readonly store: Pick<NodeStore, 'figures'>
  readonly disks: Disks
  /** The certificates that fronts serve with now, as PEM. */
  readonly certificate: () => string | null
  readonly everyMs?: number
}

/**
 * Figures of the node's surroundings for the metrics. A scrape waits for no disk and no Postgres; figures that could
 * not be read are left out.
 */
export class FiguresWatch {
  readonly #options: FiguresOptions
  readonly #looks: Repetition
  #looking: Promise<void> | null = null
  #disks: DiskFigures[] = []
  #store: NodeFigures['store'] = null

  constructor(options: FiguresOptions) {
    this.#options = options
    this.#looks = every(options.everyMs ?? FIGURES_LOOK_MS, () => void this.look())
    void this.look()
  }

  read(): NodeFigures {
    const pem = this.#options.certificate()
    return {
      disks: this.#disks,
      store: this.#store,
      certificateEndsAt: pem === null ? null : endOf(pem),
    }
  }

  /** Postgres is older than the data directory. */
  get isMoneyRefused(): boolean {
    return (this.#store?.moneyStepsBehind ?? 0) > 0
  }

  look(): Promise<void> {
    this.#looking ??= Promise.all([this.#lookAtDisks(), this.#lookAtStore()])
      .then(() => undefined)
      .finally(() => (this.#looking = null))
    return this.#looking
  }

  stop(): void {
    this.#looks.stop()
  }

  async #lookAtDisks(): Promise<void> {
    const { dataDir, objects } = this.#options.disks
    const places = { data: dataDir, postgres: clusterFolderOf(dataDir), objects }
    const looks = Object.entries(places).map(async ([place, folder]) => {
      const found = folder === null ? null : await statfs(folder).catch(() => null)
      if (found === null) return []
      return [{ place, freeBytes: found.bavail * found.bsize, sizeBytes: found.blocks * found.bsize }]
    })
    this.#disks = (await Promise.all(looks)).flat()
  }

  async #lookAtStore(): Promise<void> {
    this.#store = await this.#options.store.figures().catch(() => null)
  }
}

export interface GaugesInput {
  readonly fleet: Pick<Fleet, 'restarts' | 'hangs'>
  /** Null until the stores are opened, as `figures`. */
  readonly watch: Pick<ReadinessWatch, 'isUp'> | null
  readonly figures: Pick<FiguresWatch, 'read'> | null
}

export function gaugesOf(
  counts: Pick<NodeGauges, 'fronts' | 'workers' | 'runners'>,
  { fleet, watch, figures }: GaugesInput,
): NodeGauges {
  return {
    ...counts,
    restarts: fleet.restarts,
    hangs: fleet.hangs,
    isPostgresUp: watch?.isUp('postgres') ?? false,
    isRedisUp: watch?.isUp('redis') ?? false,
    isStorageUp: watch?.isUp('storage') ?? false,
    figures: figures?.read() ?? null,
  }
}

/** The first certificate of a chain belongs to the node itself. */
function endOf(pem: string): Date | null {
  try {
    return new Date(new X509Certificate(pem).validTo)
  } catch {
    return null
  }
}

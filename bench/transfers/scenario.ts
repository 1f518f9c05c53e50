/** What `uploads` and `downloads` have in common: the targets in turn, section by section, and the report. */
import { figureCheck, type FigureCheck } from '../figure.ts'
import { machine, type Machine } from '../machine.ts'
import { GENERATOR_CORES_MAX } from '../record.ts'
import type { Absent } from '../target.ts'
import { keepReport } from '../text.ts'
import { interleaveTransfers, type TransferSample } from './measure.ts'
import type { Scenario, Section, TransferOptions, TransferTarget } from './options.ts'
import { bytesText, transferRow, transferTables, type TransferReport, type TransferRow } from './report.ts'
import type { FileServer, FileTarget } from './target.ts'

/** Bytes of the smaller files; the large one is the option's. */
export const SMALL_SIZES: readonly number[] = [1e3, 64e3, 1e6, 10e6]
/** At once in `crowd`, before the option's own number. */
const CROWDS: readonly number[] = [1, 32]
const SIZES_MS = 1_500
/** Small files are counted, not timed by the gigabyte: what they leave behind has to be removed again. */
const SIZES_ROUNDS = 100
const LONG_MS = 120_000

export function progress(text: string): void {
  process.stderr.write(`${text}\n`)
}

export class Bench {
  readonly options: TransferOptions
  readonly #scenario: Scenario
  readonly #machine: Machine = machine()
  readonly #startedAt = performance.now()
  readonly #servers: FileServer[] = []
  readonly #absent: Absent[] = []
  readonly #tables: { readonly title: string; readonly rows: readonly TransferRow[] }[] = []
  readonly #checks: FigureCheck[] = []
  readonly #facts: string[] = []
  readonly #notes: string[] = []

  constructor(scenario: Scenario, options: TransferOptions) {
    this.#scenario = scenario
    this.options = options
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Servers have sessions of their own, which no terminal ends, and data that is large.
      process.once(signal, () => void this.stopServers().finally(() => process.exit(130)))
    }
  }

  runs(section: Section): boolean {
    return this.options.sections.includes(section)
  }

  /** Has a server ended with the bench, if nobody ends it before. */
  keep<T extends FileServer>(server: T): T {
    this.#servers.push(server)
    return server
  }

  /** Starts a server if it was asked for; what cannot run here is left out with its reason. */
  async start<T extends FileServer>(name: TransferTarget, starter: () => Promise<T | Absent>): Promise<T | null> {
    if (!this.options.only.includes(name)) return null
    progress(`starting ${name}`)
    const server = await starter()
    if ('absent' in server) {
      this.#absent.push(server)
      return null
    }
    return this.keep(server)
  }

  /** Of the servers that run now. */
  get targets(): readonly FileTarget[] {
    return this.#servers.flatMap((server) => server.targets)
  }

  /** Every target with the large file; the samples of each, by its name. */
  async speed(repeats: number): Promise<ReadonlyMap<string, readonly TransferSample[]>> {
    const { connections, payloadBytes } = this.options
    const ask = { connections, payloadBytes, rounds: 1, durationMs: LONG_MS }
    const warming = (text: string): void => progress(`warming ${text}`)
    await interleaveTransfers(this.targets, { ...ask, connections: 2 }, { repeats: 1, progress: warming })
    const found = await interleaveTransfers(this.targets, ask, { repeats, progress })
    this.table('speed', [...found].map(([name, samples]) => transferRow(name, ask, samples)))
    return found
  }

  async crowd(): Promise<void> {
    const { payloadBytes, crowd } = this.options
    for (const connections of [...new Set([...CROWDS, crowd])]) {
      const ask = { connections, payloadBytes, rounds: 1, durationMs: LONG_MS }
      const found = await interleaveTransfers(this.targets, ask, { repeats: 1, progress })
      this.table(`${connections} at once`, [...found].map(([name, samples]) => transferRow(name, ask, samples)))
    }
  }

  async sizes(): Promise<void> {
    for (const payloadBytes of SMALL_SIZES) {
      const { connections } = this.options
      const ask = { connections, payloadBytes, rounds: SIZES_ROUNDS, durationMs: SIZES_MS }
      const found = await interleaveTransfers(this.targets, ask, { repeats: 1, progress })
      this.table(`files of ${bytesText(payloadBytes)}`, [...found].map(([name, samples]) => transferRow(name, ask, samples)))
    }
  }

  table(title: string, rows: readonly TransferRow[]): void {
    this.#tables.push({ title, rows })
  }

  check(...given: Parameters<typeof figureCheck>): void {
    this.#checks.push(figureCheck(...given))
  }

  /** A figure without a bound. */
  fact(text: string): void {
    this.#facts.push(text)
  }

  async stopServers(): Promise<void> {
    const said = new Set([...this.#notes, ...this.targets.map(({ note }) => note)])
    this.#notes.splice(0, this.#notes.length, ...said)
    for (const server of this.#servers.splice(0)) await server.stop()
  }

  /** Prints and writes what was found; the exit code says whether every figure was reached. */
  async report(): Promise<void> {
    const { options } = this
    const report: TransferReport = {
      scenario: this.#scenario,
      at: new Date().toISOString(),
      machine: this.#machine,
      settings: {
        connections: options.connections,
        repeats: options.repeats,
        payloadMb: options.payloadBytes / 1e6,
        sections: options.sections.join(','),
        tookS: Math.round((performance.now() - this.#startedAt) / 1_000),
      },
      tables: this.#tables,
      facts: this.#facts,
      checks: this.#checks,
      notes: [
        ...this.#notes,
        ...this.#absent.map((one) => `${one.name}: left out, ${one.absent}`),
        `* the generator used more than ${GENERATOR_CORES_MAX} of a core: the rate may be its limit; CPU a GB still holds`,
        `generator and servers share ${this.#machine.cores} cores; MB is 1e6 bytes of files, forms not counted`,
        "a node's loop figure is the largest of its processes",
      ],
    }
    await keepReport(report, { text: transferTables(report), file: options.json })
    if (this.#checks.some((one) => !one.isMet)) process.exitCode = 1
  }
}

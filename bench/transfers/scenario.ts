/** Common parts of `uploads` and `downloads`: the targets in turn, section by section, and the report. */
import { availableParallelism } from 'node:os'
import { keepRecord, progress } from '../keep-record.ts'
import { ratiosOver } from '../ratios.ts'
import { checkRecord, type Bound, type CheckRecord, type ResultRow } from '../record.ts'
import type { Spread } from '../statistics.ts'
import type { Absent } from '../target.ts'
import { interleaveTransfers, type Ask, type TransferSample } from './measure.ts'
import type { Scenario, Section, TransferOptions, TransferTarget } from './options.ts'
import { splitText, transferRow } from './report.ts'
import type { FileServer, FileTarget } from './target.ts'

/** Bytes of the smaller files; the option gives the large one. */
export const SMALL_SIZES: readonly number[] = [1e3, 64e3, 1e6, 10e6]
/** Concurrent transfers in `crowd`, before the option's own number. */
const CROWDS: readonly number[] = [1, 32]
/** Milliseconds after which no transfer of a small file begins. */
const SIZES_MS = 1_500
/** Rounds of small files: a number of files, not of gigabytes, since each stored file has to be removed. */
const SIZES_ROUNDS = 100
/** Milliseconds after which no transfer of a large file begins. */
const LONG_MS = 120_000

const QUESTIONS: Readonly<Record<Scenario, string>> = {
  uploads: 'what receiving, checking, sealing and storing files costs, against servers that only receive',
  downloads: 'what sending container files and sealed files costs, against servers that only send',
  egress:
    'what passing requests on through the gate costs, against nginx as a reverse proxy to the same target over TLS',
}

interface TransferChecked {
  readonly bound: Bound
  /** The samples of the figure. */
  readonly samples: readonly { readonly failed: number }[]
  /** As in `CheckRecord`. */
  readonly repeats: number | null
}

export class Bench {
  readonly options: TransferOptions
  readonly #scenario: Scenario
  readonly #servers: FileServer[] = []
  readonly #absent: Absent[] = []
  readonly #rows: ResultRow[] = []
  readonly #checks: CheckRecord[] = []
  readonly #facts: string[] = []
  readonly #subjects = new Map<string, string>()

  constructor(scenario: Scenario, options: TransferOptions) {
    this.#scenario = scenario
    this.options = options
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      // Servers have sessions of their own, which no terminal ends, and large data.
      process.once(signal, () => void this.stopServers().finally(() => process.exit(130)))
    }
  }

  runs(section: Section): boolean {
    return this.options.sections.includes(section)
  }

  /** Registers a server that ends with the bench, unless it ended before. */
  keep<T extends FileServer>(server: T): T {
    this.#servers.push(server)
    return server
  }

  /** Starts a selected server; a server that cannot run here is left out with its reason. */
  async start<T extends FileServer>(
    name: TransferTarget,
    starter: () => Promise<T | Absent>,
  ): Promise<T | null> {
    if (!this.options.only.includes(name)) return null
    progress(`starting ${name}`)
    const server = await starter()
    if ('absent' in server) {
      this.#absent.push(server)
      return null
    }
    return this.keep(server)
  }

  /** Targets of the running servers. */
  get targets(): readonly FileTarget[] {
    return this.#servers.flatMap((server) => server.targets)
  }

  /** Drives every target with the large file. @returns the samples of each, by its name */
  async speed(repeats: number): Promise<ReadonlyMap<string, readonly TransferSample[]>> {
    const { connections, payloadBytes } = this.options
    const ask = { connections, payloadBytes, rounds: 1, durationMs: LONG_MS }
    const warming = (text: string): void => progress(`warming ${text}`)
    await interleaveTransfers(this.targets, { ...ask, connections: 2 }, { repeats: 1, progress: warming })
    const found = await interleaveTransfers(this.targets, ask, { repeats, progress })
    this.rows('', ask, found)
    return found
  }

  async crowd(): Promise<void> {
    const { payloadBytes, crowd } = this.options
    for (const connections of [...new Set([...CROWDS, crowd])]) {
      const ask = { connections, payloadBytes, rounds: 1, durationMs: LONG_MS }
      const found = await interleaveTransfers(this.targets, ask, { repeats: 1, progress })
      this.rows('', ask, found)
    }
  }

  async sizes(): Promise<void> {
    for (const payloadBytes of SMALL_SIZES) {
      const { connections } = this.options
      const ask = { connections, payloadBytes, rounds: SIZES_ROUNDS, durationMs: SIZES_MS }
      const found = await interleaveTransfers(this.targets, ask, { repeats: 1, progress })
      this.rows('small files', ask, found)
    }
  }

  /**
   * Adds a row for each target. `subject, way` names two ways of one subject: they are cases.
   * @param what see `TransferCase`
   */
  rows(what: string, ask: Ask, found: ReadonlyMap<string, readonly TransferSample[]>): void {
    for (const [name, samples] of found) {
      const [subject = '', way] = name.split(', ')
      const row = transferRow(
        { scenario: this.#scenario, subject, what: [way ?? '', what].filter((one) => one !== '').join(', ') },
        ask,
        samples,
      )
      // Two sections may have the same number of connections; the first one has more repeats.
      if (this.#rows.some((one) => one.case === row.case && one.subject === subject)) continue
      this.#rows.push(row)
      this.#facts.push(splitText(row, samples))
    }
  }

  check(text: string, found: Spread, { bound, samples, repeats }: TransferChecked): void {
    const check = checkRecord(text, found, { bound, rows: samples, repeats })
    this.#checks.push({ ...check, scenario: this.#scenario })
  }

  /** Adds a figure without a bound. */
  fact(text: string): void {
    this.#facts.push(text)
  }

  /** Adds a subject that no server of the bench offers. */
  subject({ name, note }: Pick<FileTarget, 'name' | 'note'>): void {
    this.#subjects.set(name.split(', ')[0] ?? name, note)
  }

  async stopServers(): Promise<void> {
    for (const target of this.targets) this.subject(target)
    for (const server of this.#servers.splice(0)) await server.stop()
  }

  /** Prints and writes the results; the exit code shows whether every figure was reached. */
  async report(): Promise<void> {
    const { options } = this
    const ours = [...this.#subjects.keys()].filter((name) => name.startsWith('sluice'))
    const ratios = ours.flatMap((name) => ratiosOver(this.#rows, name, ['cpu_s_per_gb', 'mb_per_second']))
    await keepRecord(
      {
        scenario: this.#scenario,
        question: QUESTIONS[this.#scenario],
        settings: {
          connections: options.connections,
          repeats: options.repeats,
          payloadMb: options.payloadBytes / 1e6,
          sections: options.sections.join(','),
        },
        subjects: [...this.#subjects].map(([name, note]) => ({ name, note })),
        absent: this.#absent.map(({ name, absent }) => ({ name, reason: absent })),
        rows: this.#rows,
        ratios: ratios.filter(({ under }) => !ours.includes(under)),
        curves: [],
        checks: this.#checks,
        notes: [
          ...this.#facts,
          `generator and servers share ${availableParallelism()} cores; MB is 1e6 bytes of files, forms not counted`,
          "a node's loop figure is the largest of its processes",
        ],
      },
      options.json,
    )
  }
}

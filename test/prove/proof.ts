/** One acceptance or chaos run: what it found, and what it must put back. */
export interface Finding {
  readonly text: string
  readonly found: string
  readonly isMet: boolean
  /** A duration or a rate: true on an idle machine, and therefore never asserted by `npm test`. */
  readonly isTimed: boolean
}

/** What a program sends to the test that runs it. */
export interface Outcome {
  /** Why the run could not be made on this machine. */
  readonly skipped: string | null
  readonly findings: readonly Finding[]
}

type Run = (proof: Proof) => Promise<void>

export interface Program {
  /** One line for the list of programs. */
  readonly text: string
  readonly run: Run
  /** The same with a translation between caller and provider; absent: the program has no such form. */
  readonly translated?: Run
  /** The seed of a run whose command line names none; absent: each run has another one. */
  readonly seed?: number
}

export type ProgramForm = 'usual' | 'translated'

/** What the form of a program runs; null: it has no such form. */
export function runOf({ run, translated }: Program, form: ProgramForm): Run | null {
  return form === 'usual' ? run : (translated ?? null)
}

export interface ProofInput {
  readonly seed: number
  /** A few seconds instead of the full length. */
  readonly isShort: boolean
  readonly say: (text: string) => void
  readonly folders?: ProofFolders
}

/** Of a proof that keeps what it saw; null: the command line names none. */
export interface ProofFolders {
  /** Where it is kept. */
  readonly to: string | null
  /** What an earlier run kept. */
  readonly against: string | null
}

export class Proof implements Outcome {
  readonly seed: number
  readonly isShort: boolean
  readonly folders: ProofFolders
  readonly findings: Finding[] = []
  skipped: string | null = null
  readonly say: (text: string) => void
  readonly #closers: (() => Promise<unknown>)[] = []
  #state: number

  constructor(input: ProofInput) {
    this.seed = input.seed
    this.isShort = input.isShort
    this.folders = input.folders ?? { to: null, against: null }
    this.say = input.say
    this.#state = input.seed >>> 0
  }

  check(text: string, isMet: boolean, found: string): void {
    // A long run prints its findings as it goes.
    this.say(`${isMet ? 'met   ' : 'MISSED'} ${text}: ${found}`)
    this.findings.push({ text, isMet, found, isTimed: false })
  }

  /** For what only an idle machine can promise. */
  checkTimed(text: string, isMet: boolean, found: string): void {
    this.findings.push({ text, isMet, found, isTimed: true })
  }

  /** Runs when the program has ended, however; the last given first. */
  after(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** The same, as a test has it: what opens something for a test opens it for a program. */
  teardown(done: () => unknown): void {
    this.#closers.push(async () => done())
  }

  async run(run: Run): Promise<void> {
    try {
      await run(this)
    } finally {
      for (const close of this.#closers.reverse()) await close()
    }
  }

  /** A whole number from 0 to below `below`, from the seed (mulberry32). */
  random(below: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** `200 × 1,234; 429 × 5`. */
export function tally(statuses: Readonly<Record<number, number>>): string {
  const parts = Object.entries(statuses).map(
    ([status, count]) => `${status === '0' ? 'failed' : status} × ${count.toLocaleString('en')}`,
  )
  return parts.length === 0 ? 'none' : parts.join('; ')
}

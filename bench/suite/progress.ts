/** Progress of a run: one line that is redrawn on a terminal, a line for each step elsewhere. */

export interface Screen {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Largest shown share of a running scenario: its expected duration is only a guess. */
const ALMOST = 0.95
/** Characters of the progress bar. */
const BAR_CHARS = 20
/** Milliseconds between two drawings of the line. */
const REDRAW_MS = 500

export class Progress {
  readonly #screen: Screen
  readonly #now: () => number
  readonly #startedAt: number
  readonly #seconds: readonly number[]
  #at = -1
  #beganAt: number
  #step = ''
  #timer: NodeJS.Timeout | null = null

  /** @param seconds expected seconds of each scenario, in order */
  constructor(screen: Screen, seconds: readonly number[], now: () => number = () => performance.now()) {
    this.#screen = screen
    this.#now = now
    this.#seconds = seconds
    this.#startedAt = this.#beganAt = now()
    if (screen.isTTY === true) this.#timer = setInterval(() => this.#draw(), REDRAW_MS)
  }

  begin(name: string): void {
    this.#at += 1
    this.#beganAt = this.#now()
    this.step(name)
  }

  step(text: string): void {
    this.#step = text
    if (this.#screen.isTTY === true) this.#draw()
    else this.#screen.write(`${this.line(text)}\n`)
  }

  /** The state of the running step: redrawn on a terminal, a line elsewhere. */
  live(text: string): void {
    if (this.#screen.isTTY === true) this.step(text)
    else this.say(text)
  }

  /** Prints a permanent line above the progress line. */
  say(text: string): void {
    this.#wipe()
    this.#screen.write(`${text}\n`)
  }

  end(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#wipe()
  }

  line(text: string): string {
    const share = this.share
    const elapsedS = (this.#now() - this.#startedAt) / 1_000
    // Until a tenth is done, the expected duration is a better guess than the measured pace.
    const left = share > 0.1 ? (elapsedS / share) * (1 - share) : sum(this.#seconds) * (1 - share)
    const full = Math.round(share * BAR_CHARS)
    return `[${'#'.repeat(full)}${'-'.repeat(BAR_CHARS - full)}] ${String(Math.floor(share * 100)).padStart(3)} %  ${clock(left)} left  ${text}`
  }

  /** Share of the whole run, 0 to 1. */
  get share(): number {
    const expected = this.#seconds[this.#at] ?? 0
    const done = sum(this.#seconds.slice(0, Math.max(0, this.#at)))
    const inside = Math.min(expected * ALMOST, (this.#now() - this.#beganAt) / 1_000)
    return Math.min(1, (done + (this.#at < 0 ? 0 : inside)) / Math.max(1e-9, sum(this.#seconds)))
  }

  #draw(): void {
    const width = (this.#screen.columns ?? 80) - 1
    this.#screen.write(`\r\u001B[K${this.line(this.#step).slice(0, width)}`)
  }

  #wipe(): void {
    if (this.#screen.isTTY === true) this.#screen.write('\r\u001B[K')
  }
}

function clock(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds))
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`
}

function sum(values: readonly number[]): number {
  return values.reduce((all, one) => all + one, 0)
}

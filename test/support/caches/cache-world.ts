/** A live cache over a store, a feed and a clock that do one step at a time, with the model of it. */
import { fail, ok, type Outcome } from '../../../src/schemas/failures.ts'
import type { Change } from '../../../src/server/ports/keys/keys.ts'
import { testFeed, type TestFeed } from '../keys/key-store.ts'
import {
  CacheModel,
  ownerOf,
  THINGS,
  type Answer,
  type CacheRules,
  type ModelChange,
  type Value,
} from './cache-model.ts'
import { KEY_QUERIES_MAX } from '../../../src/server/access/access.ts'

/** What a cache under test is given. */
export interface CacheStand {
  readonly feed: TestFeed
  readonly now: () => number
  /** The store reads a thing. */
  readonly read: (at: number) => Promise<Outcome<Value>>
}

/** A cache under test, by the places of the things. */
export interface TestedCache {
  ask(at: number): Answer | Promise<Answer>
  /** Null: no change of owners reaches this cache. */
  changeOf(change: Exclude<ModelChange, { kind: 'everything' }>): Change | null
  /** Things with an entry, the most recently used first; left out where the cache does not list them. */
  list?(): readonly number[]
  /** How many entries the cache has evicted; left out where the cache does not count them. */
  dropped?(): number
}

export interface CacheSubject {
  readonly name: string
  readonly rules: CacheRules
  open(stand: CacheStand): TestedCache
}

/** A read of the store: sent, then taken from the rows, then answered. */
interface Read {
  readonly at: number
  taken: Value | undefined
  readonly settle: (answer: Outcome<Value>) => void
}

interface LoggedChange {
  readonly change: Exclude<ModelChange, { kind: 'everything' }>
  /** Things that the change touched when it was made. */
  readonly touched: readonly number[]
}

/** Milliseconds that a step lets pass: little, and to the ends of misses, of the grace and of loads. */
const WAITS_MS = [1, 4_999, 9_999, 30_000, 60_000]

export class CacheWorld {
  /** What went wrong, in words. */
  readonly wrong: string[] = []
  readonly #feed = testFeed()
  readonly #model: CacheModel
  readonly #cache: TestedCache
  readonly #reads: Read[] = []
  /** The truth. */
  readonly #rows: Value[] = Array.from({ length: THINGS }, () => 1)
  /** Changes from number 2 on: the things began with number 1. */
  readonly #log: LoggedChange[] = []
  /** By thing: the highest number of a change that the cache was sent. */
  readonly #reported: number[] = Array.from({ length: THINGS }, () => 1)
  /** By the number of the call, as in the model. */
  readonly #answers: Answer[] = []
  #calls = 0

  constructor({ rules, open }: CacheSubject) {
    this.#feed.epoch = 1
    this.#model = new CacheModel(rules, this.#feed)
    this.#cache = open({ feed: this.#feed, now: () => this.#model.now, read: (at) => this.#read(at) })
  }

  get isIdle(): boolean {
    return this.#reads.length === 0
  }

  ask(given: number): void {
    // More reads than queries of keys would wait for each other.
    if (this.#model.loads.length >= KEY_QUERIES_MAX) return
    const at = given % THINGS
    const call = this.#calls++
    const reportedBefore = this.#reported[at] ?? 0
    const expected = this.#model.ask(at, call)
    const answer = this.#cache.ask(at)
    const check = (got: Answer): void => {
      if (typeof got === 'number' && got < reportedBefore)
        this.wrong.push(`${at}: ${got}, told of ${reportedBefore}`)
    }
    if (!(answer instanceof Promise)) check(answer)
    const got = answer instanceof Promise ? null : answer
    if (got !== expected) this.wrong.push(`${at}: ${String(got)} at once instead of ${String(expected)}`)
    if (answer instanceof Promise)
      void answer.then((later) => {
        this.#answers[call] = later
        check(later)
      })
  }

  /** A thing is changed, removed or made again, or all things of its owner are changed. */
  commit(given: number): void {
    const at = given % THINGS
    const n = this.#log.length + 2
    const isOfOwner = given % 4 === 0
    const touched = isOfOwner
      ? this.#rows.flatMap((row, other) => (row !== null && ownerOf(other) === ownerOf(at) ? [other] : []))
      : [at]
    for (const one of touched) this.#rows[one] = !isOfOwner && given % 5 < 3 ? null : n
    const change = isOfOwner
      ? ({ kind: 'owner', n, owner: ownerOf(at) } as const)
      : ({ kind: 'thing', n, at } as const)
    this.#log.push({ change, touched })
  }

  /** Hints come in any order, twice, late, or never. */
  hint(given: number): void {
    const logged = this.#log.at(-1 - (given % Math.max(1, Math.min(4, this.#log.length))))
    if (logged !== undefined) this.#tell(logged)
  }

  /** @param isWhole false: the feed has lost track of what changed */
  poll(isWhole: boolean): void {
    if (isWhole) for (const logged of this.#log.slice(this.#feed.epoch - 1)) this.#tell(logged)
    else {
      this.#model.tell({ kind: 'everything' })
      this.#feed.tell({ kind: 'everything' })
    }
    this.#feed.epoch = this.#log.length + 1
    this.#feed.lastGoodPollAtMs = this.#model.now
  }

  /** The store takes a read from its rows, or answers it. */
  answer(given: number, isAway = false): void {
    const nth = given % Math.max(1, this.#reads.length)
    const read = this.#reads[nth]
    if (read === undefined) return
    if (read.taken === undefined && !isAway) {
      read.taken = this.#rows[read.at] ?? null
      return
    }
    const value = read.taken ?? null
    this.#reads.splice(nth, 1)
    this.#model.settle(nth, isAway ? 'away' : value)
    read.settle(isAway ? fail('store_unavailable') : ok(value))
  }

  /** As `answer`, for the read that was sent last. */
  answerLast(): void {
    this.answer(this.#reads.length - 1)
  }

  wait(given: number): void {
    this.#model.now += WAITS_MS[given % WAITS_MS.length] ?? 0
  }

  /** Compares the cache with its model, once the step has had all its consequences. */
  look(): void {
    const { loads, answers, dropped } = this.#model
    const texts = (things: readonly unknown[]): string => [...things].join()
    const compare = (what: string, got: string, expected: string): void => {
      if (got !== expected) this.wrong.push(`${what}: ${got} instead of ${expected}`)
    }
    compare('reads', texts(this.#reads.map(({ at }) => at)), texts(loads.map(({ at }) => at)))
    compare('answers', texts(this.#answers), texts(answers))
    if (this.#cache.list !== undefined)
      compare('entries', texts(this.#cache.list()), texts(this.#model.list()))
    if (this.#cache.dropped !== undefined) compare('dropped', `${this.#cache.dropped()}`, `${dropped}`)
  }

  #tell({ change, touched }: LoggedChange): void {
    const reported = this.#cache.changeOf(change)
    if (reported === null) return
    this.#model.tell(change)
    for (const at of touched) this.#reported[at] = Math.max(change.n, this.#reported[at] ?? 0)
    this.#feed.tell(reported)
  }

  #read(at: number): Promise<Outcome<Value>> {
    return new Promise((settle) => this.#reads.push({ at, taken: undefined, settle }))
  }
}

import type { Failure } from '../../schemas/failures.ts'
import { endOfSpace, bytesOf } from '../../schemas/values/json-bytes.ts'
import { EVENTS, INVALID, isDoneMark, NativeEvents } from '../native-events.ts'
import type { SseEvent } from '../sse-reader.ts'
import { Pieces } from '../walk/splices.ts'
import { ResponseWalk } from './walk.ts'
import { usageWithItems, reportedUsageOf, type ReportedUsage } from './usage.ts'
import type { FinalEvents, TokenUsage, AnswerPieces, NativeHead, FailureOf } from '../parts.ts'
import { reportedWith, usageBetween } from '../usage.ts'

/** Events that contain the whole response, with the status to use if it has none. */
const CONTAINERS: ReadonlyMap<string, string> = new Map([
  ['response.created', 'in_progress'],
  ['response.queued', 'queued'],
  ['response.in_progress', 'in_progress'],
  ['response.completed', 'completed'],
  ['response.incomplete', 'incomplete'],
  ['response.failed', 'failed'],
])
/** Events that end a stream. */
const FINAL: ReadonlySet<string> = new Set(['response.completed', 'response.incomplete', 'response.failed'])
const FAILED = 'response.failed'
const ITEM_ADDED = 'response.output_item.added'
const ITEM_DONE = 'response.output_item.done'
const ERROR = 'error'
/** Keep-alive events; they are not passed on, since the `openai` client fails on them. */
const PINGS: ReadonlySet<string> = new Set(['ping', 'keepalive'])

interface Final {
  /** The event around the usage of its response. */
  readonly pieces: AnswerPieces
  /** Null: no credible usage was reported. */
  readonly reportedUsage: ReportedUsage | null
}

/**
 * The stream of a provider that speaks responses, for a caller that does. Events are passed on as their bytes
 * came, with the changes of D13; the last one, which has the usage, is held until its cost is known. An event
 * that has to be parsed is parsed on the loop, up to STREAM_MENDED_BYTES_MAX.
 */
export class NativeResponsesStream extends NativeEvents {
  protected readonly walk: ResponseWalk
  #deltaBytes = 0
  #textBytes = 0
  #itemBytes = 0
  #searches = 0
  /** Items that have begun and not ended. */
  #openItems = 0
  /** A message or a call has ended. */
  #isAnswered = false
  #passed = 0
  #final: Final | null = null

  constructor(head: NativeHead, failureOf: FailureOf) {
    super(failureOf)
    this.walk = new ResponseWalk(head, 'event')
  }

  override get heldBytes(): number {
    const final = this.#final
    return super.heldBytes + (final === null ? 0 : bytesOf(final.pieces.before) + bytesOf(final.pieces.after))
  }

  /** As the provider reported it in the last event, with the searches of the items so far. */
  get usage(): TokenUsage | null {
    return usageWithItems(this.#final?.reportedUsage?.tokens ?? null, this.#searches)
  }

  /**
   * Bytes in UTF-8 of delivered text, reasoning and arguments of tools. The same text occurs in its
   * fragments, in a separate event, in its item and in the last event; small servers leave some of them out.
   */
  get outputBytes(): number {
    return Math.max(this.#deltaBytes, this.#textBytes, this.#itemBytes)
  }

  /** The last event, which has the usage, comes after the items. */
  override get awaitsUsage(): boolean {
    return this.#isAnswered && this.#openItems === 0 && !this.isDone
  }

  /** The event that ends the stream, which has the usage. */
  get finalEvents(): FinalEvents | null {
    const final = this.#final
    if (final === null) return null
    return { withUsage: (usage) => usageBetween(final.pieces, usage) }
  }

  protected override take({ name, data, isOneLine, isOwn }: SseEvent): Failure | null {
    const start = endOfSpace(data, 0)
    // Skips empty data and the end mark of chat, which some servers send; neither is an event of responses.
    if (start === data.length || isDoneMark(data, start)) return null
    if (name === ERROR) return this.failureOf(data)
    const walk = this.walk
    const { event } = walk
    event.name = name
    event.number = this.#passed
    if (!walk.run(data, isOneLine)) return INVALID
    const { type } = event
    if (type === ERROR || (event.hasError && !type.startsWith('response.'))) return this.failureOf(data)
    // Clients ignore an event without a type.
    if (type === '' || PINGS.has(type)) return null
    this.upstreamId ??= walk.upstreamId
    if (CONTAINERS.has(type)) this.reported = reportedWith(this.reported, { service_tier: walk.serviceTier })
    this.#count(type)
    if (FINAL.has(type)) return this.#end(type, isOwn || walk.bytes !== data)
    EVENTS.source = walk.bytes
    EVENTS.text(`event: ${type}\ndata: `)
    walk.write(EVENTS, CONTAINERS.get(type) ?? 'in_progress')
    EVENTS.lineEnds()
    this.#passed++
    return null
  }

  #count(type: string): void {
    const { event, response } = this.walk
    this.#deltaBytes += event.deltaBytes
    this.#textBytes += event.textBytes
    if (type === ITEM_ADDED) this.#openItems++
    const isItem = type === ITEM_DONE && event.item.count > 0
    if (isItem) {
      this.#itemBytes += event.item.bytes
      this.#searches += event.item.searches
      this.#openItems--
      if (event.item.isCall || event.item.isMessage) this.#isAnswered = true
    }
    if (FINAL.has(type)) {
      this.#itemBytes = Math.max(this.#itemBytes, response.items.bytes)
      this.#searches = Math.max(this.#searches, response.items.searches)
    }
    const hasItems = FINAL.has(type) && response.items.count > 0
    if (event.hasDelta || event.textBytes > 0 || event.item.isCall || isItem || hasItems)
      this.hasOutput = true
  }

  /** @param isOwn the bytes that were walked over stay valid, so no copy is made: copying 16 MiB would block the loop */
  #end(type: string, isOwn: boolean): Failure | null {
    const walk = this.walk
    if (walk.event.isBare) return INVALID
    // Before the first output, another endpoint can still answer.
    if (type === FAILED && !this.hasOutput) return this.failureOf(walk.reportedError, true)
    const status = CONTAINERS.get(type) ?? ''
    const before = new Pieces(walk.bytes)
    const after = new Pieces(walk.bytes)
    before.text(`event: ${type}\ndata: `)
    walk.around(before, after, status)
    after.text('\n\n')
    const reportedUsage = reportedUsageOf(walk.usage, this.hasOutput)
    this.isDone = true
    const kept = ({ all }: Pieces): readonly Uint8Array[] => (isOwn ? all : [Buffer.concat(all)])
    this.#final = {
      pieces: {
        before: kept(before),
        usageMembers: reportedUsage === null ? null : [reportedUsage.members],
        after: kept(after),
      },
      reportedUsage,
    }
    this.finishReason = walk.incompleteReason ?? walk.status ?? status
    return null
  }
}

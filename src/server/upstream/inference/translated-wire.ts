import { ok, type Failure, type Outcome } from '../../../schemas/failures.ts'
import {
  translateRequest,
  type Translation,
  type TranslationJob,
  PART_PROTOCOLS,
  wholeParts,
} from '../../../dialects/translate.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import { owned } from '../../../schemas/values/lent-bytes.ts'
import type { InferenceJob } from '../../ports/inference/inference.ts'
import type { Endpoint } from '../../ports/models/models.ts'
import type { ShortJobs } from '../../ports/short-jobs.ts'
import type { LoopBudget } from '../../structures/loop-budget.ts'
import { movable } from '../movable.ts'
import type { Framing } from './framing.ts'
import type { CallMedia } from './inline/call-media.ts'
import { contentsOf, withHoles, type CallContents } from './inline/named-contents.ts'
import { answerOfJob } from '../../../dialects/native-answer.ts'
import type { ReadLarge } from '../../../dialects/part-events.ts'
import type { ProviderRequest } from './protocol.ts'
import { signatureFormatOf, type LearnedText } from './spoken.ts'
import {
  isTranslatedHere,
  translationJob,
  type WrittenCall,
  unsupported,
} from './translated/translation-job.ts'
import type { CountWire, StreamInput, WholeInput, Wire } from './wire.ts'
import type { NativeAnswer, NativeHead, PartStream, WholeRead, FailureOf } from '../../../dialects/parts.ts'
import { KeptParts, OriginalParts } from '../../../dialects/passed-parts.ts'
import { unsentBetas, VERSION_HEADER } from '../../../dialects/messages/native-request.ts'
import { GEMINI_TIER_HEADER, geminiCount, geminiPaths } from '../../../dialects/gemini/parts.ts'
import type { TextProtocol, ThinksIn } from '../../../schemas/models/protocols.ts'

interface TranslatedWireDeps {
  readonly framing: Framing
  readonly endpoint: Endpoint
  readonly learned: LearnedText
  readonly jobs: ShortJobs
  readonly loop: LoopBudget
}

const HEADERS: Readonly<Partial<Record<TextProtocol, readonly string[]>>> = { messages: VERSION_HEADER }

/** Calls an endpoint in its own protocol for callers of another dialect, by way of the internal form. */
export class TranslatedWire implements Wire {
  readonly framing: Framing
  readonly count: CountWire | null
  readonly tierHeader?: string
  readonly #dialect: Dialect
  readonly #protocol: TextProtocol
  readonly #deps: TranslatedWireDeps

  constructor(dialect: Dialect, protocol: TextProtocol, deps: TranslatedWireDeps) {
    this.#dialect = dialect
    this.#protocol = protocol
    this.#deps = deps
    this.framing = deps.framing
    if (protocol === 'gemini') this.tierHeader = GEMINI_TIER_HEADER
    this.count = dialect === 'messages' && protocol === 'gemini' ? this.#geminiCount() : null
  }

  pathOf(isStream: boolean): string {
    if (this.#protocol !== 'gemini') return PATHS[this.#protocol]
    const { streamed, whole } = geminiPaths(this.#deps.endpoint.upstreamModel)
    return isStream ? streamed : whole
  }

  request(job: InferenceJob, media: CallMedia): Promise<Outcome<ProviderRequest>> {
    return this.#translated(job, media)
  }

  stream(_head: NativeHead, failureOf: FailureOf, { origins, caller, tier }: StreamInput): PartStream {
    const protocol = this.#protocol
    // The work continues after the caller has disconnected, since the stream may be drained.
    const readLarge: ReadLarge = (data) =>
      this.#deps.jobs.run('large_event', { protocol, data }, { caller, transfer: movable(data) })
    const read = PART_PROTOCOLS[protocol].stream(failureOf, {
      format: this.#signatureFormat,
      readLarge,
      tier,
    })
    const stream = origins === undefined ? read : new OriginalParts(read, origins)
    // The last event of the Responses dialect repeats the whole answer.
    return this.#dialect === 'responses' ? new KeptParts(stream) : stream
  }

  /** A large answer is read and written in a thread: its parts would be written on the loop. */
  whole(input: WholeInput): ReturnType<Wire['whole']> {
    const { body, caller, tier, origins = [] } = input
    if (!isTranslatedHere(body)) return this.#wholeInJob({ ...input, body: owned(body) })
    const [protocol, signatureFormat] = [this.#protocol, this.#signatureFormat]
    const read = { protocol, answer: body, signatureFormat, tier, origins }
    return this.#deps.loop.booked(caller.organizationId, () => wholeParts(read))
  }

  async #wholeInJob(input: WholeInput): Promise<WholeRead<NativeAnswer>> {
    const { body, head, caller, endsAt, isEncryptedAsked, tier, origins = [] } = input
    const how = { protocol: this.#protocol, dialect: this.#dialect, signatureFormat: this.#signatureFormat }
    const job = { ...how, answer: body, head, isEncryptedAsked, tier, origins }
    const more = { caller, endsAt, transfer: movable(body) }
    const done = await this.#deps.jobs.run('translated_answer', job, more)
    return done.ok ? answerOfJob(done.value) : done
  }

  answered(thinksIn: ThinksIn | null): void {
    this.#deps.learned.answered(thinksIn)
  }

  refused(failure: Failure): (() => void) | null {
    return this.#protocol === 'chat' ? this.#deps.learned.refused(failure) : null
  }

  /** Rewrites the request with the content fetched from addresses, if the protocol accepts no addresses. */
  async #translated(
    job: TranslatedJob,
    media: CallMedia,
    more: Pick<TranslationJob, 'isCount'> = {},
  ): Promise<Outcome<ProviderRequest>> {
    const contents = contentsOf(job.files)
    const written = await this.#written(job, contents, more)
    if (!written.ok) return written
    const { urls = [] } = written.value
    if (urls.length === 0) return ok(this.#requestOf(written.value, contents, job))
    const fetched = await media.load(urls)
    if (!fetched.ok) return fetched
    const all = contentsOf(job.files, fetched.value)
    const whole = await this.#written(job, all, more)
    return whole.ok ? ok(this.#requestOf(whole.value, all, job)) : whole
  }

  async #written(
    job: TranslatedJob,
    contents: CallContents | null,
    more: Pick<TranslationJob, 'isCount'>,
  ): Promise<Outcome<WrittenRequest>> {
    const { caller, call, deadlineAt: endsAt } = job
    const { endpoint, learned } = this.#deps
    const { text } = learned
    const { dialect, ...written } = translationJob(job, { endpoint, text, protocol: this.#protocol })
    const named = contents === null ? null : { contents: contents.named }
    const input = { dialect, ...written, ...more, ...named }
    const { loop, jobs } = this.#deps
    const done = isTranslatedHere(input.body)
      ? ok(loop.booked(caller.organizationId, () => translateRequest(input)))
      : await jobs.run('translate', input, { caller, signal: call.signal, endsAt })
    if (!done.ok) return done
    const { value } = done
    if (!value.ok) return unsupported(value.issues)
    return ok(value)
  }

  #requestOf(
    written: WrittenRequest,
    contents: CallContents | null,
    { passedHeaders }: Pick<TranslatedJob, 'passedHeaders'>,
  ): ProviderRequest {
    const { body, origins, places = [] } = written
    const pieces = contents === null ? [body] : withHoles(body, places, contents)
    const headers = HEADERS[this.#protocol] ?? []
    const dropped = [...written.dropped, ...unsentBetas(passedHeaders)]
    return { body: pieces, dropped, headers, ...(origins && { origins }) }
  }

  #geminiCount(): CountWire {
    return {
      path: geminiPaths(this.#deps.endpoint.upstreamModel).count,
      request: (job, media) => this.#translated(job, media, { isCount: true }),
      answer: geminiCount,
    }
  }

  get #signatureFormat(): string {
    return signatureFormatOf(this.#deps.endpoint.provider.slug, this.#protocol)
  }
}

type WrittenRequest = Extract<Translation, { readonly ok: true }>
type TranslatedJob = WrittenCall &
  Pick<InferenceJob, 'files' | 'caller' | 'call' | 'deadlineAt' | 'passedHeaders'>

const PATHS = { chat: '/chat/completions', responses: '/responses', messages: '/messages' } as const

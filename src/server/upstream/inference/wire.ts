import type { Failure, Outcome } from '../../../schemas/failures.ts'
import type { Dialect } from '../../../schemas/inference/text-request.ts'
import type { Caller } from '../../../schemas/values/callers.ts'
import type { CountJob, InferenceJob } from '../../ports/inference/inference.ts'
import type { Framing } from './framing.ts'
import type { CallMedia } from './inline/call-media.ts'
import type { ProviderRequest } from './protocol.ts'
import type {
  NativeAnswer,
  NativeHead,
  NativeStream,
  PartStream,
  WholeParts,
  WholeRead,
  FailureOf,
} from '../../../dialects/parts.ts'
import type { ThinksIn } from '../../../schemas/models/protocols.ts'

export interface WholeInput extends Pick<ProviderRequest, 'origins'> {
  /** Value of the header that the wire names as `tierHeader`; null: the answer has none. */
  readonly tier: string | null
  readonly body: Uint8Array
  readonly head: NativeHead
  readonly caller: Caller
  /** As in `TextRequest`. */
  readonly isEncryptedAsked: boolean
  /** `performance.now()` of the attempt's end. */
  readonly endsAt: number
}

export interface StreamInput extends Pick<ProviderRequest, 'origins'> {
  /** As of `WholeInput`. */
  readonly tier: string | null
  readonly caller: Caller
}

type ReadWhole = WholeRead<NativeAnswer | WholeParts>

/** How an endpoint is called for callers of one dialect: in that dialect, or in the endpoint's own protocol. */
export interface Wire {
  /** Converts a body that does not have the requested form. */
  readonly framing: Framing
  /** Header in lower case in which answers report their tier; absent when they report it in their bodies. */
  readonly tierHeader?: string
  /** Path below the provider's base address. */
  pathOf(isStream: boolean): string
  /** Failures: field_unsupported, those of `CallMedia`, and those of the pool of short jobs. */
  request(job: InferenceJob, media: CallMedia): Outcome<ProviderRequest> | Promise<Outcome<ProviderRequest>>
  stream(head: NativeHead, failureOf: FailureOf, asked: StreamInput): NativeStream | PartStream
  /**
   * An answer in the caller's dialect, or its parts, which the caller's side writes. Failures: those of a
   * provider that failed, upstream_invalid, and those of the pool of short jobs.
   */
  whole(input: WholeInput): ReadWhole | Promise<ReadWhole>
  /** Learns from a failure that a request without a certain member would be accepted; as in `LearnedText`. */
  refused(failure: Failure): (() => void) | null
  /** Learns in which member the endpoint's answers have their reasoning; as in `LearnedText`. */
  answered(thinksIn: ThinksIn | null): void
  /** Null: the endpoint counts no tokens for callers of the dialect. */
  readonly count: CountWire | null
}

/** How the tokens of a prompt are counted. */
export interface CountWire {
  readonly path: string
  request(job: CountJob, media: CallMedia): Outcome<ProviderRequest> | Promise<Outcome<ProviderRequest>>
  /** JSON of the caller's dialect; null: the answer has no count. */
  answer(body: Uint8Array): Uint8Array | null
}

/** Null when the endpoint does not speak the dialect and no translation reaches it. */
export type WireOf = (dialect: Dialect) => Wire | null

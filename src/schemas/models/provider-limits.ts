import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of calls to providers, each with its unit and its source. */

/** Bytes of one provider answer. C10, design §4. */
export const UPSTREAM_ANSWER_BYTES_MAX = 128 * MIB
/** Bytes of provider answers that one front holds at once. Design §4. */
export const UPSTREAM_ANSWERS_BYTES_MAX = 256 * MIB
/** Bytes of an answer up to which it is scanned on the loop, in at most 1 ms; a short job scans larger answers. Decision. */
export const SCANNED_INLINE_BYTES_MAX = MIB
/** Bytes of a provider's `usage` that are parsed on the loop. Decision. */
export const USAGE_BYTES_MAX = 16 * KIB
/** Bytes of a provider's error body that are read. Design §4. */
export const UPSTREAM_ERROR_BYTES_MAX = 64 * KIB
/** Connections of one front to one provider origin. Decision. */
export const UPSTREAM_CONNECTIONS_MAX = 512
/** Calls of one front that wait for a connection to one provider origin; further ones fail with `busy`. Decision. */
export const UPSTREAM_WAITING_MAX = 1_024
/** Downloads that one front reads from one provider origin at once, so that calls find free connections. Decision. */
export const UPSTREAM_STREAMS_MAX = 256
/**
 * Concurrent long calls of one front to trusted providers, over all origins, unless SLUICE_STREAMS is set:
 * the answer of a text model occupies its connection for minutes. D30.
 */
export const UPSTREAM_LONG_CALLS_DEFAULT = 2_048
/** Bytes of the headers of a provider's response to a long call. D12. */
export const UPSTREAM_HEADERS_BYTES_MAX = 32 * KIB
/** Bytes of a text model's answer that is not streamed. D12. */
export const UPSTREAM_WRITTEN_BYTES_MAX = 32 * MIB
/** Milliseconds within which the text of a provider's refusal of a long call must arrive. Decision. */
export const UPSTREAM_ERROR_MS = 5_000
/** Bytes of a provider's download that wait for the reader. Decision. */
export const UPSTREAM_STREAM_BYTES_MAX = 256 * KIB
/** Milliseconds of connecting to a provider; the attempt's own deadline may end it earlier. Decision. */
export const UPSTREAM_CONNECT_MS = 10_000
/** Milliseconds for which an idle connection to a provider is kept when the provider names no time. Decision. */
export const UPSTREAM_KEEP_ALIVE_MS = 20_000
/** Milliseconds of one attempt at a provider whose catalogue entry names no timeout. Decision. */
export const UPSTREAM_TIMEOUT_MS_DEFAULT = 30_000
/** Milliseconds that a catalogue may set for one attempt; more would outlast every call. Decision. */
export const PROVIDER_TIMEOUT_MS_MAX = 600_000
/** Milliseconds until the first output of a text model, for a provider whose catalogue entry names no time. D17. */
export const FIRST_OUTPUT_MS_DEFAULT = 120_000
/** Milliseconds between two events of a text model, for a provider whose catalogue entry names no time. D17. */
export const STALL_MS_DEFAULT = 120_000
/**
 * Gateways that a call may have passed. A call that has passed this many is not sent to private endpoints,
 * since any of them may call its origin again; it may still be sent to remote providers of the catalogue.
 * Decision.
 */
export const HOPS_MAX = 3

import { KIB, MIB } from '../limits/limits.ts'

/** Named limits of calls to providers, each with its unit and its source. */

/** Bytes of one provider answer. C10, design §4. */
export const UPSTREAM_ANSWER_BYTES_MAX = 128 * MIB
/** Bytes of provider answers that one front holds at once. Design §4. */
export const UPSTREAM_ANSWERS_BYTES_MAX = 256 * MIB
/**
 * Bytes of an answer that is scanned on the loop, in a millisecond at most; a short job scans a larger
 * answer. Decision.
 */
export const SCANNED_INLINE_BYTES_MAX = MIB
/** Numbers of an answer that is parsed: the heap of a thread holds as many. Decision. */
export const PARSED_NUMBERS_MAX = 8 * MIB
/** Objects, lists and quotes of an answer that is parsed: the heap of a thread holds as many. Decision. */
export const PARSED_MARKS_MAX = MIB
/**
 * Inputs of a call whose body is rewritten for a provider that does not speak OpenAI's protocol. Decision.
 */
export const REWRITTEN_INPUTS_MAX = 64 * KIB
/** Bytes of a provider's `usage` that are parsed on the loop. Decision. */
export const USAGE_BYTES_MAX = 16 * KIB
/** Bytes of a provider's error body that are read. Design §4. */
export const UPSTREAM_ERROR_BYTES_MAX = 64 * KIB
/** Connections of one front to one provider origin. Decision. */
export const UPSTREAM_CONNECTIONS_MAX = 512
/** Calls of one front that wait for a connection to one provider origin; `busy` beyond. Decision. */
export const UPSTREAM_WAITING_MAX = 1_024
/**
 * Downloads that one front reads from one provider origin at once, so that calls find free connections.
 * Decision.
 */
export const UPSTREAM_STREAMS_MAX = 256
/**
 * Long calls that one front makes to trusted providers at once, over all origins, unless SLUICE_STREAMS says
 * otherwise: an answer that a model writes holds its connection for minutes. D30.
 */
export const UPSTREAM_LONG_CALLS_DEFAULT = 2_048
/** Most long calls that SLUICE_STREAMS allows a front; each takes a file descriptor. Decision. */
export const UPSTREAM_LONG_CALLS_MAX = 16_384
/** Seconds after which a call that found no place is invited to try again. Decision. */
export const LONG_CALLS_RETRY_S = 1
/** Bytes of the headers of a provider's response to a long call. D12. */
export const UPSTREAM_HEADERS_BYTES_MAX = 32 * KIB
/** Bytes of one read of a provider's connection. Decision. */
export const UPSTREAM_READ_BYTES_MAX = 64 * KIB
/**
 * The same of a long call, whose events are small: while its caller does not read, up to three reads wait in
 * the front. Decision.
 */
export const UPSTREAM_READ_EVENTS_BYTES_MAX = 8 * KIB
/**
 * Bytes of a provider's event stream that wait for the reader; one read of the socket may exceed it.
 * Thousands of event streams are open at once, and with a caller who does not read, each holds this much and
 * a read. Decision.
 */
export const UPSTREAM_EVENTS_BYTES_MAX = 4 * KIB
/** Bytes of an answer that a model writes, where it is not streamed. D12. */
export const UPSTREAM_WRITTEN_BYTES_MAX = 32 * MIB
/** Milliseconds in which the text of a provider's refusal of a long call has to come. Decision. */
export const UPSTREAM_ERROR_MS = 5_000
/** Milliseconds in which a response has to end after the last event of its stream. Decision. */
export const UPSTREAM_END_MS = 1_000
/** Bytes of a provider's download that wait for the reader. Decision. */
export const UPSTREAM_STREAM_BYTES_MAX = 256 * KIB
/** Milliseconds of connecting to a provider; the attempt's own deadline may end it earlier. Decision. */
export const UPSTREAM_CONNECT_MS = 10_000
/** Informational responses that are dropped before a provider's response; more are no HTTP. Decision. */
export const UPSTREAM_HINTS_MAX = 16
/** Bytes of the extensions of one chunk in a provider's response, which are dropped. Decision. */
export const UPSTREAM_CHUNK_EXTENSION_BYTES_MAX = 256
/**
 * Milliseconds between two looks at the idle connections to a provider; a connection is closed so much
 * earlier than its time. Decision.
 */
export const UPSTREAM_IDLE_LOOK_MS = 500
/** Milliseconds by which an idle connection is closed before the time that the provider names. Decision. */
export const UPSTREAM_KEEP_ALIVE_MARGIN_MS = 2_000
/** Milliseconds that an idle connection is kept at most, whatever the provider names. Decision. */
export const UPSTREAM_KEEP_ALIVE_MS_MAX = 600_000
/** Milliseconds that an idle connection to a provider is kept when the provider names no time. Decision. */
export const UPSTREAM_KEEP_ALIVE_MS = 20_000
/** Milliseconds of one attempt at a provider whose catalogue entry names no timeout. Decision. */
export const UPSTREAM_TIMEOUT_MS_DEFAULT = 30_000
/** Milliseconds that a catalogue may set for one attempt; more would outlast every call. Decision. */
export const PROVIDER_TIMEOUT_MS_MAX = 600_000
/**
 * Milliseconds until the first output of a model that writes, for a provider whose catalogue entry names no
 * time. D17.
 */
export const FIRST_OUTPUT_MS_DEFAULT = 120_000
/**
 * Milliseconds between two events of a model that writes, for a provider whose catalogue entry names no time.
 * D17.
 */
export const STALL_MS_DEFAULT = 120_000
/** Headers that the catalogue sets for a provider. Decision. */
export const PROVIDER_HEADERS_MAX = 16
/** Characters of the value of a header that the catalogue sets. Decision. */
export const PROVIDER_HEADER_CHARS_MAX = 4_096
/**
 * Gateways that a call may have passed. A call that passed as many is not sent to private endpoints, since
 * any of them may lead back to its origin; remote providers of the catalogue may be called once more.
 * Decision.
 */
export const HOPS_MAX = 3

/**
 * Named limits of every request and of the whole node, each once, with its unit and its source. Those of one
 * subject are in `<subject>/<name>-limits.ts`.
 */

export const KIB = 1024
export const MIB = 1024 * KIB
/** Bytes of every other JSON body. C10. */
export const JSON_BODY_BYTES_MAX = 4 * MIB
/** Nesting levels of a JSON body; the outermost value is level 1. C10. */
export const JSON_DEPTH_MAX = 64
/** Bytes above which a JSON body is read in a short job instead of on the loop. Design §4.4. */
export const INLINE_JSON_BYTES_MAX = 256 * KIB
/**
 * Bytes above which what is wrong with a JSON body is found in a short job: it takes longer than reading it.
 * Decision.
 */
export const INLINE_ISSUES_BYTES_MAX = 16 * KIB
/** Milliseconds without a byte of an unfinished body. C10. */
export const BODY_STALL_MS = 8_000
/**
 * Bytes of JSON bodies that one front holds at once, those that wait for a thread and those that are sent on
 * among them; beyond, 503. Decision.
 */
export const BODIES_BYTES_MAX = 512 * MIB
/** Connections of callers that one front holds at once. Decision. */
export const CONNECTIONS_MAX = 50_000
/**
 * Descriptors that are kept for providers, stores and files where the process may open few; at most half.
 * Decision.
 */
export const DESCRIPTORS_RESERVED = 1_024
/**
 * Milliseconds for which a connection is not read while a call that ends with its client has no answer yet.
 * Decision.
 */
export const UNREAD_MS = 1_000
/**
 * What is read away of a body that is refused: bytes, milliseconds in all, and milliseconds without a byte.
 * Decision.
 */
export const REFUSED_BODY_BYTES_MAX = 64 * MIB
export const REFUSED_BODY_MS = 10_000
export const REFUSED_BODY_STALL_MS = 250
/** The same for a caller that was not let in: bytes. Decision. */
export const STRANGERS_BODY_BYTES_MAX = MIB
/** Bytes a second of a streamed body at least, over each so many milliseconds in which we read. Decision. */
export const BODY_BYTES_PER_S_MIN = KIB
export const BODY_PACE_MS = 60_000
/**
 * Chunks of a body, and of one that is read away, beyond which they have so many bytes on average. Decision.
 */
export const TINY_CHUNKS_MAX = 256 * KIB
export const REFUSED_TINY_CHUNKS_MAX = 4_096
export const TINY_CHUNK_BYTES = 64
/** Bytes of a streamed body that are gathered before they are handed on, for 100 ms at most. Decision. */
export const GATHERED_BYTES_MIN = 4 * KIB
/**
 * Milliseconds between two signs of life to a slow reader, and without progress until it is cut. Design §5.
 */
export const REPLY_BEAT_MS = 4_000
export const REPLY_STALL_MS = 60_000
/**
 * Bytes a second that a reader takes at least, over each REPLY_STALL_MS: its answer is held for it. Decision.
 */
export const REPLY_BYTES_PER_S_MIN = 64 * KIB
/** Milliseconds that an operation has to answer by itself after its deadline. Decision. */
export const DEADLINE_GRACE_MS = 250
/**
 * Milliseconds that a short job may run, five times the slowest honest one; its thread is ended then.
 * Decision.
 */
export const SHORT_JOB_MS_MAX = 20_000
/**
 * The same in a runner, whose threads give way: the longest clip takes 3 s of CPU, and its images up to 10.
 * Decision.
 */
export const BACKGROUND_JOB_MS_MAX = 120_000
/** Issues that one failure lists. C13. */
export const ISSUES_MAX = 20
/** Characters of a session id. §8. */
export const SESSION_ID_CHARS_MAX = 256
/** Milliseconds of a call that touches only our own stores. Decision. */
export const CONTROL_DEADLINE_MS = 10_000
/** Characters of a caller's own request id. C12. */
export const REQUEST_ID_CHARS_MAX = 128
/**
 * Bytes of a request's target and all its headers, names included. uWebSockets.js has no cap of its own.
 * Decision.
 */
export const HEADERS_BYTES_MAX = 16 * KIB
/** HTTP processes of one node, and threads for long sessions of all of them. Decision. */
export const FRONTS_MAX = 256
export const WORKERS_MAX = 1_024
/** Milliseconds that a drain waits for what is in flight. Design §2. */
export const DRAIN_MS = 30_000
/** Milliseconds that a replaced front stays for idle keep-alive connections. Design §2. */
export const REPLACED_FRONT_MS = 12_000
/**
 * Milliseconds from a front's start until another one is loaded ahead, which takes a core half a second.
 * Decision.
 */
export const SPARE_FRONT_MS = 10_000
/**
 * Milliseconds without a heartbeat after which a front counts as not ready, and after which it is killed and
 * replaced: the kernel goes on giving it its share of new connections. Decision.
 */
export const FRONT_SILENT_MS = 3_000
export const FRONT_HUNG_MS = 10_000
/** Milliseconds of one post to the broadcast address. Decision. */
export const BROADCAST_POST_MS_MAX = 10_000
/** Bytes of log lines that wait for a reader; beyond, lines are dropped and counted. Decision. */
export const LOG_BUFFER_BYTES_MAX = 4 * MIB
/** Milliseconds that a statement may run in the store, and a wait for a lock within it. Decision. */
export const STATEMENT_MS_MAX = 10_000
export const LOCK_WAIT_MS_MAX = 5_000
/**
 * Milliseconds between two heartbeats of a front, and of silence after which it no longer counts. Decision.
 */
export const HEARTBEAT_MS = 2_000
export const FRONT_LIVE_MS = 15_000
/**
 * Milliseconds that invalidations and rows of silent fronts are kept, those no shorter than fronts serve
 * alone. Design §3; Decision.
 */
export const INVALIDATIONS_KEPT_MS = 3_600_000
export const SILENT_FRONTS_KEPT_MS = 600_000
/** Invalidations that one poll reads; a front that missed more drops all it has cached. Decision. */
export const INVALIDATIONS_READ_MAX = 1_000
/**
 * Bytes of the items of one page of any list, after which it ends early; one item there always is. Larger
 * pages would hold the event loop while they are written: 100 versions of presets are 15 MB. Decision.
 */
export const LIST_PAGE_BYTES_MAX = MIB
/**
 * Bytes of a list's answer from which it is compressed for those who take gzip, and above which it is not:
 * copying it would hold the loop. Decision.
 */
export const COMPRESSED_BYTES_MIN = 64 * KIB
export const COMPRESSED_BYTES_MAX = 4 * MIB
/**
 * Milliseconds for which a list's answer waits for a thread that compresses it; beyond, it goes as it is.
 * Decision.
 */
export const COMPRESS_WAIT_MS_MAX = 250

/** Named limits of every request and of the whole node; `<subject>/<name>-limits.ts` contains the limits of one subject. */

export const KIB = 1024
export const MIB = 1024 * KIB
/** Bytes of a JSON body, unless its operation has a separate limit. C10. */
export const JSON_BODY_BYTES_MAX = 4 * MIB
/** Nesting levels of a JSON body; the outermost value is level 1. C10. */
export const JSON_DEPTH_MAX = 64
/** Bytes above which a JSON body is read in a short job instead of on the loop. Design §4.4. */
export const INLINE_JSON_BYTES_MAX = 256 * KIB
/** Bytes above which a short job lists the issues of a JSON body: listing takes longer than reading. Decision. */
export const INLINE_ISSUES_BYTES_MAX = 16 * KIB
/** Milliseconds that an unfinished body may pause. C10. */
export const BODY_STALL_MS = 8_000
/**
 * Bytes of JSON bodies that one front holds at once, including bodies that wait for a thread and bodies that
 * are being sent to a provider; further ones get 503. Decision.
 */
export const BODIES_BYTES_MAX = 512 * MIB
/** Bytes of a refused body that are read and discarded. Decision. */
export const REFUSED_BODY_BYTES_MAX = 64 * MIB
/** Milliseconds for which a refused body is read and discarded. Decision. */
export const REFUSED_BODY_MS = 10_000
/** Milliseconds that a refused body may pause before its connection is closed. Decision. */
export const REFUSED_BODY_STALL_MS = 250
/** Milliseconds of reading over which the pace of a streamed body is measured. Decision. */
export const BODY_PACE_MS = 60_000
/** Chunks of a body above which the chunks must have TINY_CHUNK_BYTES on average. Decision. */
export const TINY_CHUNKS_MAX = 256 * KIB
/** Bytes that chunks must have on average once a body has many of them. Decision. */
export const TINY_CHUNK_BYTES = 64
/** Milliseconds between two checks of a slow reader; each check also resets the idle timeout of its connection. Design §5. */
export const REPLY_BEAT_MS = 4_000
/** Milliseconds without progress after which a reader is cut off. Design §5. */
export const REPLY_STALL_MS = 60_000
/** Milliseconds after its deadline during which an operation may still send its own answer. Decision. */
export const DEADLINE_GRACE_MS = 250
/** Milliseconds after which the thread of a short job is terminated: five times the slowest regular job. Decision. */
export const SHORT_JOB_MS_MAX = 20_000
/**
 * Milliseconds after which a runner, whose threads have lower priority, terminates the thread of a short job:
 * the longest clip takes 3 s of CPU time, its images up to 10 s. Decision.
 */
export const BACKGROUND_JOB_MS_MAX = 120_000
/** Issues that one failure lists. C13. */
export const ISSUES_MAX = 20
/** Characters of a session id. §8. */
export const SESSION_ID_CHARS_MAX = 256
/** Milliseconds of a call that uses only Sluice's own stores. Decision. */
export const CONTROL_DEADLINE_MS = 10_000
/** Characters of a request id that a caller chose. C12. */
export const REQUEST_ID_CHARS_MAX = 128
/** Bytes of a request's target and all its headers, names included. uWebSockets.js itself has no limit. Decision. */
export const HEADERS_BYTES_MAX = 16 * KIB
/** HTTP processes of one node. Decision. */
export const FRONTS_MAX = 256
/** Threads for long sessions of one node, in all its processes. Decision. */
export const WORKERS_MAX = 1_024
/** Milliseconds for which a drain waits for calls in flight, unless SLUICE_DRAIN_MS is set. Design §2. */
export const DRAIN_MS = 30_000
/** The largest SLUICE_DRAIN_MS in milliseconds. Decision. */
export const NODE_DRAIN_MS_MAX = 600_000
/** Milliseconds for which a replaced front keeps running for idle keep-alive connections. Design §2. */
export const REPLACED_FRONT_MS = 12_000
/** Milliseconds that a replaced front has to finish its calls, which may be streams. D34. */
export const REPLACED_CALLS_MS = 600_000
/** Milliseconds after a node's first calls at which a spare front is loaded; loading takes half a second of one core. Decision. */
export const SPARE_FRONT_MS = 10_000
/** Milliseconds without calls after which the spare front is stopped to free its memory. Decision. */
export const SPARE_REST_MS = 45_000
/** Milliseconds without a heartbeat after which a front counts as not ready. Decision. */
export const FRONT_SILENT_MS = 3_000
/**
 * Milliseconds without a heartbeat after which a front is killed and replaced: until then the kernel still
 * assigns new connections to the front. Decision.
 */
export const FRONT_HUNG_MS = 10_000
/** Milliseconds of one post to the broadcast address. Decision. */
export const BROADCAST_POST_MS_MAX = 10_000
/** Milliseconds that a statement may run in the store. Decision. */
export const STATEMENT_MS_MAX = 10_000
/** Milliseconds that a statement may wait for a lock in the store. Decision. */
export const LOCK_WAIT_MS_MAX = 5_000
/** Milliseconds between two heartbeats of a front. Decision. */
export const HEARTBEAT_MS = 2_000
/** Milliseconds without a heartbeat after which a front no longer counts as live. Decision. */
export const FRONT_LIVE_MS = 15_000
/** Milliseconds that invalidations are kept. Design §3; Decision. */
export const INVALIDATIONS_KEPT_MS = 3_600_000
/**
 * Milliseconds for which the rows of silent fronts are kept: at least as long as a front serves without the
 * store. Design §3; Decision.
 */
export const SILENT_FRONTS_KEPT_MS = 600_000
/** Invalidations that one poll reads; a front that missed more clears its caches. Decision. */
export const INVALIDATIONS_READ_MAX = 1_000
/**
 * Bytes of the items of one page of any list, after which the page ends early; a page always has one item.
 * Serializing larger pages would block the event loop: 100 versions of presets are 15 MB. Decision.
 */
export const LIST_PAGE_BYTES_MAX = 256 * KIB

/**
 * Objects, lists and members in the parts of a body that Sluice reads. The other parts are skipped, whatever
 * their size, unless the call is translated to another protocol; then they count too. Decision.
 */
export const JSON_VALUES_MAX = MIB
/**
 * Commas above which a JSON body is read in a short job: strings and numbers in lists also take time, and the
 * loop reads this many within 1 ms. Decision.
 */
export const INLINE_JSON_COMMAS_MAX = 16 * KIB
/**
 * Commas above which a JSON body that gets a digest is read in a short job: the digest takes four times as
 * long as reading. Decision.
 */
export const INLINE_DIGESTED_COMMAS_MAX = 4 * KIB
/** Bytes above which the values and commas of a JSON body are counted: a smaller body cannot block the loop. Decision. */
export const OUTLINED_BYTES_MIN = 16 * KIB
/** Known top-level members of a body whose bytes are kept, including repetitions, since the place of each is kept. Decision. */
export const KEPT_MEMBERS_MAX = 4 * KIB
/**
 * Nested members of a body whose places are kept, since some providers must not get them: two for each
 * message that a call may have. Each one splits the body once more when it is sent, on the loop. Decision.
 */
export const KEPT_MARKS_MAX = 8 * KIB
/**
 * Bytes of secrets that a job encrypts or decrypts in less than 1 ms: one secret of the longest kind with its
 * envelope. Decision.
 */
export const BRIEF_SECRETS_BYTES_MAX = 257 * KIB

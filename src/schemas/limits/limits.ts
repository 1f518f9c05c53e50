/**
 * Named limits: each once, with its unit and its source. Used by schema, code and test. Those of files and of their
 * storage are in file-limits.ts, those of money in money-limits.ts.
 */

export const KIB = 1024
export const MIB = 1024 * KIB

/** Bytes of an embeddings body. C10. */
export const EMBEDDINGS_BODY_BYTES_MAX = 32 * MIB
/** Bytes of every other JSON body. C10. */
export const JSON_BODY_BYTES_MAX = 4 * MIB
/** Nesting levels of a JSON body; the outermost value is level 1. C10. */
export const JSON_DEPTH_MAX = 64
/** Bytes above which a JSON body is read in a short job instead of on the loop. Design §4.4. */
export const INLINE_JSON_BYTES_MAX = 256 * KIB
/** Bytes above which what is wrong with a JSON body is found in a short job: it takes longer than reading it. Decision. */
export const INLINE_ISSUES_BYTES_MAX = 16 * KIB
/** Milliseconds without a byte of an unfinished body. C10. */
export const BODY_STALL_MS = 8_000
/** Bytes of JSON bodies that one front holds at once, those that wait for a thread and those that are sent on among them; beyond, 503. Decision. */
export const BODIES_BYTES_MAX = 512 * MIB
/** Connections of callers that one front holds at once. Decision. */
export const CONNECTIONS_MAX = 50_000
/** Descriptors that are kept for providers, stores and files where the process may open few; at most half. Decision. */
export const DESCRIPTORS_RESERVED = 1_024
/** Milliseconds for which a connection is not read while a call that ends with its client has no answer yet. Decision. */
export const UNREAD_MS = 1_000
/** What is read away of a body that is refused: bytes, milliseconds in all, and milliseconds without a byte. Decision. */
export const REFUSED_BODY_BYTES_MAX = 64 * MIB
export const REFUSED_BODY_MS = 10_000
export const REFUSED_BODY_STALL_MS = 250
/** The same for a caller that was not let in: bytes. Decision. */
export const STRANGERS_BODY_BYTES_MAX = MIB
/** Bytes a second of a streamed body at least, over each so many milliseconds in which we read. Decision. */
export const BODY_BYTES_PER_S_MIN = KIB
export const BODY_PACE_MS = 60_000
/** Chunks of a body, and of one that is read away, beyond which they have so many bytes on average. Decision. */
export const TINY_CHUNKS_MAX = 256 * KIB
export const REFUSED_TINY_CHUNKS_MAX = 4_096
export const TINY_CHUNK_BYTES = 64
/** Bytes of a streamed body that are gathered before they are handed on, for 100 ms at most. Decision. */
export const GATHERED_BYTES_MIN = 4 * KIB
/** Milliseconds between two signs of life to a slow reader, and without progress until it is cut. Design §5. */
export const REPLY_BEAT_MS = 4_000
export const REPLY_STALL_MS = 60_000
/** Bytes a second that a reader takes at least, over each REPLY_STALL_MS: its answer is held for it. Decision. */
export const REPLY_BYTES_PER_S_MIN = 64 * KIB
/** Milliseconds that an operation has to answer by itself after its deadline. Decision. */
export const DEADLINE_GRACE_MS = 250
/** Milliseconds that a short job may run, five times the slowest honest one; its thread is ended then. Decision. */
export const SHORT_JOB_MS_MAX = 20_000
/** The same in a runner, whose threads give way: the longest clip takes 3 s of CPU, and its images up to 10. Decision. */
export const BACKGROUND_JOB_MS_MAX = 120_000
/** Issues that one failure lists. C13. */
export const ISSUES_MAX = 20

/** Characters of a session id. §8. */
export const SESSION_ID_CHARS_MAX = 256
/** Names in one list of the provider preferences. Decision. */
export const PREFERENCE_NAMES_MAX = 64
/** Least embedding dimensions. §8. */
export const DIMENSIONS_MIN = 1

/** Dimensions of `sluice/lexical-1`: any number up to the most, and what it answers when none is asked. Decision. */
export const LEXICAL_DIMENSIONS_MAX = 8_192
export const LEXICAL_DIMENSIONS_DEFAULT = 1_536
/** What one call of `sluice/lexical-1` may ask for: numbers in all, bytes of JSON, UTF-16 units of a text. Decision. */
export const LEXICAL_NUMBERS_MAX = 4 * MIB
export const LEXICAL_INPUT_BYTES_MAX = MIB
export const LEXICAL_TEXT_UNITS_MAX = 64 * KIB
/** Numbers and UTF-16 units of one of its jobs, about 50 ms, unless one text has more; calls at once, of all and of one caller. Decision. */
export const LEXICAL_SLICE_NUMBERS = 128 * KIB
export const LEXICAL_SLICE_UNITS = 32 * KIB
export const LEXICAL_CALLS_MAX = 32
export const LEXICAL_ORGANIZATION_CALLS_MAX = 16

/** Bytes of one provider answer. C10, design §4. */
export const UPSTREAM_ANSWER_BYTES_MAX = 128 * MIB
/** Bytes of provider answers that one front holds at once. Design §4. */
export const UPSTREAM_ANSWERS_BYTES_MAX = 256 * MIB
/** Bytes of an answer that is scanned on the loop, a millisecond at most; a larger one in a short job. Decision. */
export const SCANNED_INLINE_BYTES_MAX = MIB
/** Numbers of an answer that is parsed, and its objects, lists and quotes: what a thread's heap holds. Decision. */
export const PARSED_NUMBERS_MAX = 8 * MIB
export const PARSED_MARKS_MAX = MIB
/** Inputs of a call whose body is written anew, for a provider that does not speak OpenAI's protocol. Decision. */
export const REWRITTEN_INPUTS_MAX = 64 * KIB
/** Bytes of a provider's `usage` that are parsed on the loop. Decision. */
export const USAGE_BYTES_MAX = 4 * KIB
/** Bytes of a provider's error body that are read. Design §4. */
export const UPSTREAM_ERROR_BYTES_MAX = 64 * KIB
/** Connections to one provider origin, and calls that may wait for one, in one front; `busy` beyond. Decision. */
export const UPSTREAM_CONNECTIONS_MAX = 512
export const UPSTREAM_WAITING_MAX = 1_024
/** Downloads that one front reads from one provider origin at once, so that calls find connections. Decision. */
export const UPSTREAM_STREAMS_MAX = 256
/** Bytes of such a download that wait for its reader. Decision. */
export const UPSTREAM_STREAM_BYTES_MAX = 256 * KIB
/** Milliseconds of connecting to a provider; the attempt's own end may come earlier. Decision. */
export const UPSTREAM_CONNECT_MS = 10_000
/** Milliseconds that an idle connection to a provider is kept when the provider names no time. Decision. */
export const UPSTREAM_KEEP_ALIVE_MS = 20_000
/**
 * Of destinations that callers choose, in one front: connections of one workspace to one host and port, calls that may
 * wait for one, calls and exchanges of one workspace, of all, and sockets in all with idle ones; `busy` beyond. Decision.
 */
export const VETTED_CONNECTIONS_MAX = 64
export const VETTED_WAITING_MAX = 64
export const VETTED_WORKSPACE_CALLS_MAX = 256
export const VETTED_CALLS_MAX = 1_024
export const VETTED_SOCKETS_MAX = 1_536
/** Bytes of answers of such destinations that one front holds at once, beside those of providers: one of the largest. Decision. */
export const VETTED_ANSWERS_BYTES_MAX = 128 * MIB
/** Pools to such destinations that one front keeps, no fewer than calls; the least recently used idle one goes first. Decision. */
export const VETTED_POOLS_MAX = 1_024
/** Milliseconds that an idle connection to such a destination is kept, whatever it says, and then its pool: many servers close theirs after 5 s. Decision. */
export const VETTED_KEEP_ALIVE_MS = 4_000
export const VETTED_IDLE_MS = 60_000
/** Lookups of callers' names that run at once and that wait, of one front and of one workspace there; milliseconds of either. Decision. */
export const LOOKUPS_MAX = 8
export const LOOKUPS_WAITING_MAX = 256
export const WORKSPACE_LOOKUPS_MAX = 2
export const WORKSPACE_LOOKUPS_WAITING_MAX = 64
export const LOOKUP_MS_MAX = 5_000
/** Milliseconds of one attempt at a provider whose catalogue entry names none. Decision. */
export const UPSTREAM_TIMEOUT_MS_DEFAULT = 30_000
/** Milliseconds that a catalogue may give one attempt; more would outlast every call. Decision. */
export const PROVIDER_TIMEOUT_MS_MAX = 600_000
/** Milliseconds of an embeddings call. Decision. */
export const EMBEDDINGS_DEADLINE_MS = 60_000
/** Milliseconds of a call that touches only our own stores. Decision. */
export const CONTROL_DEADLINE_MS = 10_000

/** Characters of a caller's own request id. C12. */
export const REQUEST_ID_CHARS_MAX = 128
/** Bytes of a request's target and all its headers, names included. uWebSockets.js has no cap of its own. Decision. */
export const HEADERS_BYTES_MAX = 16 * KIB

/** Page sizes of model lists. B2.3. */
export const MODELS_PAGE_MAX = 1_000
export const MODELS_PAGE_DEFAULT = 500
/** Characters of the words and of one list of names in the query of a model list. Decision. */
export const MODELS_WORDS_CHARS_MAX = 256
export const MODELS_NAMES_CHARS_MAX = 2_048
/** Filters of model lists whose results a front keeps, and models in all of them together (8 bytes each). Decision. */
export const MODEL_SELECTIONS_CACHED_MAX = 1_000
export const MODELS_SELECTED_CACHED_MAX = 500_000

/** Key records that a front caches, and unknown keys it remembers. Decision. */
export const KEYS_CACHED_MAX = 50_000
export const UNKNOWN_KEYS_CACHED_MAX = 10_000
/**
 * Keys that one front loads or that wait to be loaded, and queries that load them at once, each taking all that wait.
 * A flood of made-up keys must fill neither before the connections run out. Decision.
 */
export const KEY_LOADS_MAX = 4_096
export const KEY_QUERIES_MAX = 4
/**
 * Keys that a new front begins with because another front of its node used them last, by so many at once, and milliseconds
 * that its readiness waits for them. Decision.
 */
export const KEYS_HANDED_MAX = 10_000
export const KEYS_HANDED_QUERY_MAX = 1_000
export const KEYS_HANDED_MS_MAX = 500
/**
 * Milliseconds in which what a front caches is read again and again because it changes meanwhile: a call with a sooner
 * deadline ends by that. Loads of one value that a feed which lost track made void; the next one is used by those who wait,
 * and not kept. Things that changed while loads are out; beyond, all loads count as touched. Decision.
 */
export const RELOADS_MS_MAX = 60_000
export const BLIND_LOADS_MAX = 4
export const HEARD_CHANGES_MAX = 10_000
/** Milliseconds that an unknown key is remembered as unknown. Decision. */
export const UNKNOWN_KEY_TTL_MS = 5_000
/** Milliseconds between two polls of the epoch, and the time-out of one. Design §3. */
export const EPOCH_POLL_MS = 1_000
export const EPOCH_POLL_TIMEOUT_MS = 400
/** Milliseconds without a good poll after which Postgres counts as missing: a poll, its time-out and a late timer. Decision. */
export const EPOCH_OVERDUE_MS = EPOCH_POLL_MS + EPOCH_POLL_TIMEOUT_MS + 100
/** Least milliseconds of grace: below, known keys would be asked for between two polls of a store that is well. Decision. */
export const KEY_GRACE_MS_MIN = 2_000

/** Milliseconds of the caller's wait for Redis: with what the loop adds, under the 100 of design §6. */
export const RATE_WAIT_MS_MAX = 90
/** Milliseconds of use that a rate block covers, and the rate limit's slack in C11's bound. Design §6. */
export const RATE_BLOCK_MS = 50
export const RATE_SLACK_MS = 100
/**
 * Milliseconds after which a lent token is no longer used, and no longer returned. Their sum is the slack: a token
 * may be used that much after it was lent, and a return may free what time had freed already.
 */
export const RATE_USE_MS = 40
export const RATE_RETURN_MS = RATE_SLACK_MS - RATE_USE_MS
/** Rate purses of one front; the least recently used goes first. Decision. */
export const RATE_PURSES_MAX = 50_000
/** Tokens below which no block is lent ahead, but to a key that was in use in so many spans of RATE_BLOCK_MS in a row. Design §6. */
export const RATE_PREFETCH_MIN = 8
export const RATE_STEADY_BLOCKS = 6
/** Share of a minute's limit that may come at once. C11. */
export const RATE_BURST_DIVISOR = 10
/** Largest limit of a key, in requests a minute. Decision. */
export const RATE_LIMIT_RPM_MAX = 1_000_000_000

/** HTTP processes of one node, and threads for long sessions of all of them. Decision. */
export const FRONTS_MAX = 256
export const WORKERS_MAX = 1_024

/** Milliseconds that a drain waits for what is in flight. Design §2. */
export const DRAIN_MS = 30_000
/** Milliseconds that a replaced front stays for idle keep-alive connections. Design §2. */
export const REPLACED_FRONT_MS = 12_000
/** Milliseconds from a front's start until another one is loaded ahead, which takes a core half a second. Decision. */
export const SPARE_FRONT_MS = 10_000
/**
 * Milliseconds without a heartbeat after which a front counts as not ready, and after which it is killed and replaced: the kernel
 * goes on giving it its share of new connections. Decision.
 */
export const FRONT_SILENT_MS = 3_000
export const FRONT_HUNG_MS = 10_000

/** Characters of an organization's, workspace's or key's name. B2.9; Decision for the others. */
export const NAME_CHARS_MAX = 100
/** Characters of a workspace's slug. B2.9. */
export const SLUG_CHARS_MAX = 50
/** Characters of a workspace's description. B2.9. */
export const DESCRIPTION_CHARS_MAX = 500
/** Workspaces, or members of one, of a page, when no number is asked for, and how many may be skipped. B3.1; Decision for the most. */
export const WORKSPACES_PAGE_MAX = 100
export const WORKSPACES_PAGE_DEFAULT = 50
export const WORKSPACES_OFFSET_MAX = 1_000_000
/** Characters of a setting of a workspace that Sluice keeps for its callers, and entries of a list of them. Decision. */
export const KEPT_TEXT_CHARS_MAX = 256
export const KEPT_LIST_MAX = 1_000
/** Characters of a callback URL. Decision. */
export const CALLBACK_URL_CHARS_MAX = 2_048

/** Milliseconds of one post to the broadcast address. Decision. */
export const BROADCAST_POST_MS_MAX = 10_000
/** Bytes of log lines that wait for a reader; beyond, lines are dropped and counted. Decision. */
export const LOG_BUFFER_BYTES_MAX = 4 * MIB

/** Milliseconds that a statement may run in the store, and a wait for a lock within it. Decision. */
export const STATEMENT_MS_MAX = 10_000
export const LOCK_WAIT_MS_MAX = 5_000
/** Milliseconds that a request waits for its key to be loaded. Decision. */
export const KEY_LOAD_MS_MAX = 2_000
/** Milliseconds between two heartbeats of a front, and of silence after which it no longer counts. Decision. */
export const HEARTBEAT_MS = 2_000
export const FRONT_LIVE_MS = 15_000
/** Milliseconds that invalidations and rows of silent fronts are kept, those no shorter than fronts serve alone. Design §3; Decision. */
export const INVALIDATIONS_KEPT_MS = 3_600_000
export const SILENT_FRONTS_KEPT_MS = 600_000
/** Invalidations that one poll reads; a front that missed more drops all it has cached. Decision. */
export const INVALIDATIONS_READ_MAX = 1_000

/** Milliseconds that a repeated call waits for the first one under its `Idempotency-Key`, and that answers are kept. C16. */
export const IDEMPOTENCY_WAIT_MS_MAX = 30_000
export const IDEMPOTENCY_KEPT_MS = 86_400_000
/**
 * Calls of one front that wait for quota or for an earlier call: of all, of a workspace, under one `Idempotency-Key`.
 * Uploads and all other calls are counted apart. Decision.
 */
export const WAITING_UPLOADS_MAX = 256
export const WAITING_WORKSPACE_UPLOADS_MAX = 64
export const WAITING_REPEATS_MAX = 16
/**
 * Milliseconds of the lease of a call under an `Idempotency-Key`, and between two renewals of it. Shorter than a
 * repetition waits: it takes over from a process that died. Decision.
 */
export const TURN_LEASE_MS = 24_000
export const TURN_RENEW_MS = 6_000
/** Bytes of the body that makes or changes an intern. B2.4. */
export const INTERN_BODY_BYTES_MAX = MIB
/** Bytes of an answer that is kept for repetitions: a single object, which tells its body again and some facts beside it. Decision. */
export const KEPT_ANSWER_BYTES_MAX = INTERN_BODY_BYTES_MAX + 64 * KIB
/** Interns of one page, and when no number is asked for. B2. */
export const INTERNS_PAGE_MAX = 100
export const INTERNS_PAGE_DEFAULT = 50
/** Characters of an `Idempotency-Key`. C16. */
export const IDEMPOTENCY_KEY_CHARS_MAX = 255

/** Events of the audit log that one statement appends, milliseconds that one waits for others, and between tries while the store is away. Decision. */
export const AUDIT_BATCH_EVENTS = 500
export const AUDIT_FLUSH_MS = 50
export const AUDIT_RETRY_MS = 250
/** Events that wait for the store; beyond, what would cause another is refused. Decision. */
export const AUDIT_WAITING_MAX = 20_000
/** Milliseconds in which equal refusals become one row of the audit log with their count. Decision. */
export const REFUSALS_GATHERED_MS = 60_000
/** Different refusals of one key, in that time and in each process, that have rows of their own; further ones share one for each reason. Decision. */
export const REFUSALS_DISTINCT_MAX = 100
/** Those of all keys of one organization: keys are free to make. Further ones share one for each reason. Decision. */
export const REFUSALS_ORGANIZATION_DISTINCT_MAX = 1_000
/** Different refusals of all organizations that one process counts; further ones share one for each organization and reason. Decision. */
export const REFUSALS_GATHERED_MAX = 10_000
/** Events of a page of the audit log at most, and when the caller names no number. Decision. */
export const AUDIT_PAGE_MAX = 100
export const AUDIT_PAGE_DEFAULT = 50
/** Events that one read of the audit log looks at; a page of a search that finds little may be short, and says where to go on. Decision. */
export const AUDIT_LOOKED_MAX = 20_000
/**
 * Bytes of the items of one page of any list, after which it ends early; one item there always is. Larger pages would hold
 * the event loop while they are written: 100 versions of presets are 15 MB. Decision.
 */
export const LIST_PAGE_BYTES_MAX = MIB
/** Bytes of a list's answer from which it is compressed for those who take gzip, and above which it is not: copying it would hold the loop. Decision. */
export const COMPRESSED_BYTES_MIN = 64 * KIB
export const COMPRESSED_BYTES_MAX = 4 * MIB
/** Milliseconds for which a list's answer waits for a thread that compresses it; beyond, it goes as it is. Decision. */
export const COMPRESS_WAIT_MS_MAX = 250

/** Unwrapped data keys that one process holds. Decision. */
export const DATA_KEYS_CACHED_MAX = 1_000
/** Characters of a secret's name, and of its value. §4.4, §8, C31. */
export const SECRET_NAME_CHARS_MAX = 255
export const SECRET_VALUE_CHARS_MAX = 65_536
/** Hosts of a secret; characters of one as it is given, of one without its trailing dot, and of a label. §4.4, §8, B1.4. */
export const SECRET_HOSTS_MAX = 100
export const HOST_CHARS_MAX = 254
export const HOST_NORMALIZED_CHARS_MAX = 253
export const HOST_LABEL_CHARS_MAX = 63
/** Bytes of a body of the vault. B1.4, C10. */
export const VAULT_BODY_BYTES_MAX = 425_000
/** Secrets of a page, which is the default too, how many may be skipped, and names of one copy. B2.4. */
export const SECRETS_PAGE_MAX = 100
export const SECRETS_OFFSET_MAX = 10_000
export const SECRETS_COPIED_MAX = 100
/** Secrets of one vault: what a list can reach. Decision. */
export const SECRETS_PER_VAULT_MAX = 10_000
/** Of one front: unwrapped keys of vaults, writes to vaults in the store at once and waiting, tries of one whose vault changes. Decision. */
export const VAULT_KEYS_CACHED_MAX = 4_096
export const VAULT_WRITES_MAX = 2
export const VAULT_WRITES_WAITING_MAX = 256
export const VAULT_WRITE_TRIES_MAX = 5
/** Of one front: writes of one workspace that wait, and copies that wait, of all and of one workspace; `busy` beyond. Decision. */
export const VAULT_WRITES_WAITING_WORKSPACE_MAX = 128
export const COPIES_WAITING_MAX = 64
export const COPIES_WAITING_WORKSPACE_MAX = 16

/** Milliseconds until a destination of the egress route begins to answer behind the last byte of the request. Decision. */
export const EGRESS_DEADLINE_MS = 600_000
/** Milliseconds without a byte of its answer, and without it taking one of the request. Decision. */
export const EGRESS_ANSWER_STALL_MS = 300_000
export const EGRESS_BODY_STALL_MS = 60_000
/** Bytes of a request's body that wait for its destination. Decision. */
export const EGRESS_WAITING_BYTES_MAX = 256 * KIB
/** Bytes of a body in which placeholders are replaced, before and after. Decision. */
export const EGRESS_SUBSTITUTED_BODY_BYTES_MAX = 64 * KIB
export const EGRESS_FILLED_BODY_BYTES_MAX = MIB
/** Secrets that one request may name, and bytes of target and headers with their values in place. Decision. */
export const EGRESS_SECRETS_MAX = 32
export const EGRESS_FILLED_HEAD_BYTES_MAX = 128 * KIB

/** Characters of a private endpoint's slugs and model ids, and of its `base_url`. Decision. */
export const ENDPOINT_TEXT_CHARS_MAX = 256
export const BASE_URL_CHARS_MAX = 2_048
/** Private endpoints of an organization, and active ones of a workspace. Decision. */
export const PRIVATE_ENDPOINTS_MAX = 1_000
export const ACTIVE_ENDPOINTS_MAX = 100
/** Milliseconds after which a passing validation is stale. B2.6. */
export const VALIDATION_FRESH_MS = 86_400_000
/** Milliseconds that an upstream has to answer a probe. C28. */
export const PROBE_MS_MAX = 5_000
/** Milliseconds that a claim of a probe holds when its front was lost. Decision. */
export const PROBE_CLAIM_MS = 15_000
/** Bytes of an upstream's answer to a probe. Decision. */
export const PROBE_ANSWER_BYTES_MAX = MIB
/** Milliseconds of a call that probes, twice where it validates and activates. Decision. */
export const PROBING_DEADLINE_MS = 20_000
/** Workspaces whose private endpoints a front remembers, those without any among them. Decision. */
export const WORKSPACE_MODELS_CACHED_MAX = 50_000
/**
 * Gateways that a call comes through before it is kept from private endpoints, any of which may lead back to where it is called from;
 * providers of the catalogue elsewhere may be called once more. Decision.
 */
export const EMBEDDINGS_HOPS_MAX = 3
/** Headers that the catalogue gives a provider, and characters of each value. Decision. */
export const PROVIDER_HEADERS_MAX = 16
export const PROVIDER_HEADER_CHARS_MAX = 4_096
/** Milliseconds after which a released credential is released, and audited, anew. Decision. */
export const RELEASED_CREDENTIAL_MS = 60_000

/** Keys of a page. B2.10. */
export const KEYS_PAGE = 100
/** Keys before a page at most. Decision. */
export const KEYS_OFFSET_MAX = 1_000_000
/** Models and authors that a key's list of allowed ones names, and characters of each. Decision. */
export const ALLOWED_MODELS_MAX = 256
export const ALLOWED_MODEL_CHARS_MAX = 256
/** Characters of the ids by which callers know the users of keys. Decision. */
export const KEY_USER_CHARS_MAX = 256
/** Seconds for which a key that was rotated goes on to work, when the call names none, and at most. Decision. */
export const KEY_OVERLAP_S_DEFAULT = 86_400
export const KEY_OVERLAP_S_MAX = 604_800

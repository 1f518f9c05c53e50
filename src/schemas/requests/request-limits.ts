/** Named limits of the request log, each with its unit and its source. */

/** Days that the rows of the request log are kept, unless SLUICE_KEEP_REQUESTS says otherwise. Decision. */
export const REQUEST_DAYS_DEFAULT = 7
/** Calls that a front gathers before it writes them to the spill; it has room for twice as many. Decision. */
export const REQUESTS_GATHERED_MAX = 2_048
/** Milliseconds that a call waits for others before all of them go to the spill. Decision. */
export const REQUESTS_FLUSH_MS = 250
/**
 * While another batch is being written and half of the room for the next one is taken, an organization that
 * has one in so many of the gathered calls gets no more of it; its further calls are lost, and counted. Decision.
 */
export const REQUESTS_GATHERED_SHARE = 4
/** Bytes of the texts of a batch (ids, names, failed attempts), beyond which it has room for no call. Decision. */
export const REQUESTS_TEXT_BYTES_MAX = 512 * 1024
/** Bytes of a file of the spill; files are joined up to them. Decision. */
export const REQUESTS_FILE_BYTES_MAX = 1_048_576
/**
 * Files in the spill of a node, each up to REQUESTS_FILE_BYTES_MAX; calls beyond them are lost, and counted.
 * Decision.
 */
export const REQUESTS_SPILL_FILES_MAX = 256
/** Files in the spill from which on fronts join their own. Decision. */
export const REQUESTS_JOINED_FILES = 64
/** Files in the spill from which on each organization has a share of the rest. Decision. */
export const REQUESTS_SHARED_FILES = 128
/** That share: waiting calls of one organization and front; further ones are lost, and counted. Decision. */
export const REQUESTS_ORGANIZATION_SPILLED_MAX = 16_384
/** Milliseconds between two looks of a runner into the spill. Decision. */
export const REQUESTS_LOOK_MS = 1_000
/** Calls of an organization in a batch from which on they are written as one segment. Decision. */
export const REQUESTS_PACKED_MIN = 32
/** Milliseconds between the first and the last end of a segment's calls at most. Decision. */
export const REQUESTS_PACKED_MS_MAX = 60_000
/** Milliseconds that the insert of a batch may take before it counts as failed, and is repeated. Decision. */
export const REQUESTS_WRITE_MS_MAX = 5_000
/**
 * Calls of one end (a failure, or none) that cost nothing, of one key, front and second, which are all kept;
 * of further ones a share is kept. Decision.
 */
export const REQUESTS_WHOLE_MAX = 20
/** Of further calls of that kind one in so many is kept, with this weight. Decision. */
export const REQUESTS_FIRST_WEIGHT = 10
/** Calls of that kind after which one in REQUESTS_LAST_WEIGHT is kept. Decision. */
export const REQUESTS_FIRST_WEIGHT_MAX = 520
/** The weight of those. Decision. */
export const REQUESTS_LAST_WEIGHT = 100
/** Kinds of calls that a front counts apart in a second; further kinds share one count. Decision. */
export const REQUESTS_KINDS_MAX = 1_000
/** Of these, kinds that are counted by key; keys beyond them share the count of their organization. Decision. */
export const REQUESTS_KEY_KINDS_MAX = 500
/** Of these, kinds of one organization. Decision. */
export const REQUESTS_ORGANIZATION_KINDS_MAX = 32
/** Characters of the JSON in which the log keeps why a call failed; the last issues are left out. Decision. */
export const FAILURE_REASON_CHARS_MAX = 1_024
/** Characters of what was expected of one input there. Decision. */
export const REASON_EXPECTED_CHARS_MAX = 160
/** Rows of a page of the request log. Decision. */
export const REQUESTS_PAGE_MAX = 500
/** Rows of a page when the request names no number. Decision. */
export const REQUESTS_PAGE_DEFAULT = 50
/**
 * Rows that one read of the request log examines. A page of a search with few matches may be short; its
 * cursor says where to continue. Decision.
 */
export const REQUESTS_LOOKED_MAX = 100_000
/** Characters of a name of a model that there is not, as the request log keeps it at most. Decision. */
export const ASKED_MODEL_CHARS_MAX = 64
/** Such names of one organization that a front keeps in a minute; further ones are left out. Decision. */
export const ASKED_MODELS_MAX = 32
/** Organizations whose names of models that there are not a front keeps in a minute. Decision. */
export const ASKED_MODEL_ORGANIZATIONS_MAX = 1_000
/** Names on one page of the request log for which the nearest models are shown. Decision. */
export const ASKED_MODELS_COMPARED_MAX = 8
/**
 * Milliseconds that the page Requests rests for each row of a look: following a busy log costs the node little.
 * Decision.
 */
export const REQUESTS_ROW_REST_MS = 10
/** Characters of a key's hash that a filter names at least. Decision. */
export const REQUESTS_KEY_PREFIX_MIN = 6
/** Different reasons of failures that a batch keeps of an organization; later ones are left out. Decision. */
export const REQUESTS_REASONS_MAX = 32
/** Keys that a search by the name of a key covers, the newest ones. Decision. */
export const REQUESTS_KEYS_NAMED_MAX = 1_000
/** Rows of an export of the request log at most, the newest ones. Decision. */
export const REQUESTS_EXPORT_MAX = 100_000
/** Rows that an export reads at once: their text fits into one piece of an answer. Decision. */
export const REQUESTS_EXPORT_PAGE = 200
/**
 * Milliseconds of an export from its first page on; a longer one is cut off, so that its client notices. A
 * reader that takes 128 KiB a second gets all rows in this time, at 1 KiB a row. Decision.
 */
export const REQUESTS_EXPORT_MS_MAX = 900_000
/** Milliseconds between two comparisons of the log with the ledger. Decision. */
export const REQUESTS_COMPARE_MS = 30_000
/** Milliseconds after a paid call by which the log must have it, else the ledger supplies it. Decision. */
export const REQUESTS_LATE_MS = 60_000
/** Milliseconds of the ledger that one comparison reads. Decision. */
export const REQUESTS_COMPARED_MS_MAX = 120_000

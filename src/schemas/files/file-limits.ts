/** Named limits of files and of their storage, each with its unit and its source. */

import { KIB, MIB } from '../limits/limits.ts'

/** Bytes of all files of a workspace, stored ones and container files together. C10. */
export const STORAGE_QUOTA_BYTES_DEFAULT = 10 * 1024 * MIB
/**
 * Bytes that the quota counts for an object at least, even for an empty object, and for each folder of a
 * container, the container's own folder included: what a disk uses for them. A bucket counts the same, so
 * that a workspace's capacity does not depend on where its files lie. C33; Decision.
 */
export const COUNTED_BYTES_MIN = 4 * KIB
/** Bytes by which the reservation of a body of unknown length grows. Decision. */
export const QUOTA_STEP_BYTES = MIB
/**
 * Milliseconds that a refusal for the quota waits for racing uploads to settle; twice as long while a younger
 * upload holds bytes. Decision.
 */
export const QUOTA_WAIT_MS_MAX = 10_000
/** Milliseconds of an upload's lease: the sweep takes over an upload that is silent for longer. Decision. */
export const UPLOAD_LEASE_MS = 60_000
/** Milliseconds between two renewals of an upload's lease. Decision. */
export const UPLOAD_RENEW_MS = 15_000
/** Bytes of an uploaded or promoted file. §8, C10. */
export const FILE_BYTES_MAX = 100 * MIB
/** Characters of a file's name. B1.7. */
export const FILENAME_CHARS_MAX = 255
/** Parts of an upload's form, apart from the file. Decision. */
export const FORM_FIELDS_MAX = 32
/** Bytes of each part of an upload's form, apart from the file. Decision. */
export const FORM_FIELD_BYTES_MAX = 64 * KIB
/**
 * Bytes of a form outside of the file: the fields, all part headers, the preamble and the epilogue. Decision.
 */
export const FORM_EXTRA_BYTES_MAX = 3 * MIB
/** Characters of the `purpose` of an uploaded file. Decision. */
export const PURPOSE_CHARS_MAX = 64
/** Milliseconds of an upload, without the time in which its bytes flow. Decision. */
export const UPLOAD_DEADLINE_MS = 120_000
/** Milliseconds that container files are kept after their container's last use. C10. */
export const CONTAINER_KEPT_MS = 30 * 86_400_000
/** Milliseconds between two checks by a node for abandoned uploads and expired files. Decision. */
export const SWEEP_UPLOADS_MS = 300_000
/** Milliseconds between two sweeps by a node; a sweep lists all of storage. Decision. */
export const SWEEP_MS = 3_600_000
/** Milliseconds without a write after which a staging file counts as abandoned. Decision. */
export const STAGING_IDLE_MS = 3_600_000
/** Age in milliseconds at which an object without a row counts as abandoned. Decision. */
export const ORPHAN_AGE_MS = 3_600_000
/** Milliseconds until a download begins; its duration depends on the reader alone. Decision. */
export const DOWNLOAD_DEADLINE_MS = 30_000
/** Files of a page, and container files of a page. B2.7, B2.8. */
export const FILES_PAGE_MAX = 1_000
/** Files or container files of a page when the request names no number. B2.7, B2.8. */
export const FILES_PAGE_DEFAULT = 100
/** Ids that one list of files names: the limit of Anthropic's clients. Decision. */
export const FILE_IDS_MAX = 100
/**
 * Bytes of one read from storage. A quarter of the size doubles the CPU of a download; four times the size
 * costs memory and saves nothing.
 */
export const STORAGE_PIECE_BYTES = 256 * KIB
/** Bytes of one read from storage for a reader that keeps up. Decision. */
export const LARGE_PIECE_BYTES = 512 * KIB
/**
 * Bytes that a reader must have taken to count as keeping up, each piece within KEEPING_UP_MS: sockets take
 * the first megabytes of a slow reader as quickly. Decision.
 */
export const KEEPING_UP_BYTES = 4 * MIB
/** Milliseconds in which a reader that keeps up takes a piece of STORAGE_PIECE_BYTES (2.6 MB/s). Decision. */
export const KEEPING_UP_MS = 100
/** Bytes of large pieces that all readers of a process hold together. Decision. */
export const READ_AHEAD_BYTES_MAX = 32 * MIB
/** Calls of `fsync` under way at once. Design §2, §5. */
export const FSYNCS_MAX = 8
/** Bytes that uploads leave free on the disk. Decision. */
export const STORAGE_SPARE_BYTES = 64 * MIB
/**
 * Inodes that uploads leave free on the disk, where the file system has a fixed number of inodes; a hundredth
 * of a small number. C33; Decision.
 */
export const STORAGE_SPARE_INODES = 10_000
/** Transfers that one front has in its worker threads at once; `busy` beyond. Design §2. */
export const TRANSFERS_MAX = 512
/** Transfers that one worker thread takes at once. Design §2. */
export const SESSIONS_PER_THREAD_MAX = 256
/** Bytes of all uploads of a front on their way to its threads. Design §5. */
export const UPLOADS_BYTES_MAX = 64 * MIB
/** Bytes of one upload on their way to its thread that are always allowed. Design §5. */
export const UPLOAD_WINDOW_BYTES_MIN = 128 * KIB
/** Bytes of one upload on their way to its thread. Design §5. */
export const UPLOAD_WINDOW_BYTES_MAX = MIB
/** Bytes of a buffer in which pushes are gathered for one message to a thread, at least. Design §5. */
export const COALESCED_BYTES_MIN = 64 * KIB
/** Bytes of a buffer in which pushes are gathered for one message to a thread. Design §5. */
export const COALESCED_BYTES_MAX = 256 * KIB
/** Pieces of one sealed download on their way from its thread. Design §5; Decision. */
export const OPENED_PIECES_MAX = 2
/** Bytes of all sealed downloads of a front on their way from their threads. Design §5; Decision. */
export const OPENED_BYTES_MAX = 64 * MIB
/** Milliseconds that sessions run before their thread reads its messages again. Design §5. */
export const SESSION_TURN_MS = 4
/** Milliseconds that a thread with sessions may leave pings unanswered before it is ended. Design §5. */
export const THREAD_SILENT_MS_MAX = 5_000
/** Characters of a container id that a caller chose. C22. */
export const CONTAINER_ID_CHARS_MAX = 40
/** Characters of a container id after `sess_` or `gen_`. C22. */
export const CONTAINER_ID_PART_CHARS_MAX = 64
/** Bytes of a container path; S3 counts the path with its prefix. Decision. */
export const CONTAINER_PATH_BYTES_MAX = 768
/** Bytes of one segment of a container path. Decision. */
export const PATH_SEGMENT_BYTES_MAX = 255
/** Segments of a container path. Decision. */
export const PATH_SEGMENTS_MAX = 32
/** Milliseconds between two writes of a container's last use. C10. */
export const CONTAINER_USE_MS = 3_600_000
/**
 * Milliseconds that a write waits for another write to the same path, or for the removal of its container;
 * `busy` beyond. Decision.
 */
export const CONTAINER_WAIT_MS_MAX = 10_000
/**
 * Milliseconds after which the sweep measures again the paths that were written through Sluice. The quota
 * counts these alone: the owner of a sandbox's storage bounds the sandbox's own writes, and these must not
 * stop uploads. Decision.
 */
export const CONTAINER_RECOUNT_MS = 86_400_000

/** Levels of an uploaded JSON text beyond which it is reported as plain text. C26. */
export const JSON_TEXT_DEPTH_MAX = 10_000
/** Entries of an uploaded Office document. C26. */
export const OOXML_ENTRIES_MAX = 10_000
/** Bytes of the directory of an uploaded Office document. C26. */
export const OOXML_DIRECTORY_BYTES_MAX = 1_048_576
/** Ratio of an uploaded Office document's unpacked size to its own size. C26. */
export const OOXML_RATIO_MAX = 200

/** Bytes of a provider's answer about files; the answer is parsed on the loop. Decision. */
export const PROVIDER_FILES_ANSWER_BYTES_MAX = MIB
/** Characters of a provider's file id. Decision. */
export const PROVIDER_FILE_ID_CHARS_MAX = 256
/**
 * Milliseconds of a call about a provider's files: less than CONTROL_DEADLINE_MS, so that the failure names
 * the provider. Decision.
 */
export const PROVIDER_FILES_CALL_MS = 9_000
/** Milliseconds until a provider begins a download. Decision. */
export const PROVIDER_DOWNLOAD_BEGIN_MS = 20_000
/** Milliseconds that a provider may send no byte of a download, or take no byte of an upload. Decision. */
export const PROVIDER_FILE_STALL_MS = 30_000
/** Milliseconds from an upload's last byte to the provider's answer. Decision. */
export const PROVIDER_UPLOAD_ANSWER_MS = 60_000
/**
 * Bytes of one piece of an upload to a provider; the last piece waits for the verdict on the file. Decision.
 */
export const PROVIDER_PIECE_BYTES = 64 * KIB
/** Bytes of an upload that wait for the provider to read them. Decision. */
export const PROVIDER_UPLOAD_BYTES_MAX = 256 * KIB

/** Seconds from the creation of an uploaded file to its expiry, at least. C37. */
export const FILE_EXPIRES_S_MIN = 3_600
/** Seconds from the creation of an uploaded file to its expiry. C37. */
export const FILE_EXPIRES_S_MAX = 2_592_000

/** Named limits of files and of their storage, like those of limits.ts. */

import { KIB, MIB } from '../limits/limits.ts'

/** Bytes of all files of a workspace, stored ones and container files together. C10. */
export const STORAGE_QUOTA_BYTES_DEFAULT = 10 * 1024 * MIB
/**
 * Bytes that the quota counts for an object at least, be it empty, and for each folder of a container, its
 * own one included: what a disk takes for them. In a bucket too, so that a workspace holds as much wherever
 * its files lie. C33; Decision.
 */
export const COUNTED_BYTES_MIN = 4 * KIB
/** Bytes by which the reservation of a body of unknown length grows. Decision. */
export const QUOTA_STEP_BYTES = MIB
/**
 * Milliseconds that a refusal for the quota waits for racing uploads to settle; twice as long while a younger
 * one holds bytes. Decision.
 */
export const QUOTA_WAIT_MS_MAX = 10_000
/**
 * Milliseconds of an upload's lease, and between two renewals of it: the sweep takes over what is silent for
 * longer. Decision.
 */
export const UPLOAD_LEASE_MS = 60_000
export const UPLOAD_RENEW_MS = 15_000
/** Bytes of an uploaded or promoted file. §8, C10. */
export const FILE_BYTES_MAX = 100 * MIB
/** Characters of a file's name. B1.7. */
export const FILENAME_CHARS_MAX = 255
/** Parts of an upload's form beside the file, and bytes of each. Decision. */
export const FORM_FIELDS_MAX = 32
export const FORM_FIELD_BYTES_MAX = 64 * KIB
/**
 * Bytes of a form that are not the file's: the fields, all part headers, what stands before and behind.
 * Decision.
 */
export const FORM_EXTRA_BYTES_MAX = 3 * MIB
/** Characters of the `purpose` of an uploaded file. Decision. */
export const PURPOSE_CHARS_MAX = 64
/** Milliseconds of an upload beside those in which its bytes flow. Decision. */
export const UPLOAD_DEADLINE_MS = 120_000
/** Milliseconds that container files are kept after their container's last use. C10. */
export const CONTAINER_KEPT_MS = 30 * 86_400_000
/**
 * Milliseconds between two looks of one node for uploads that nobody will finish and for files whose time has
 * come, and between two sweeps, which list all of storage; and until a staging file or an object without a
 * row is nobody's. Decision.
 */
export const SWEEP_UPLOADS_MS = 300_000
export const SWEEP_MS = 3_600_000
export const STAGING_IDLE_MS = 3_600_000
export const ORPHAN_AGE_MS = 3_600_000
/** Milliseconds until a download begins; how long it lasts is its reader's to say. Decision. */
export const DOWNLOAD_DEADLINE_MS = 30_000
/** Page sizes of files and container files. B2.7, B2.8. */
export const FILES_PAGE_MAX = 1_000
export const FILES_PAGE_DEFAULT = 100
/** Ids that one list of files names, as Anthropic's clients bound it. Decision. */
export const FILE_IDS_MAX = 100
/**
 * Bytes of one read from storage. A quarter of that doubles the CPU of a download, four times that only its
 * memory.
 */
export const STORAGE_PIECE_BYTES = 256 * KIB
/**
 * Bytes of a larger read, for one that keeps up: it has worked off so many bytes, each piece within so many
 * milliseconds (2.6 MB/s). Sockets swallow the first megabytes of a slow reader as quickly. Bytes of larger
 * pieces of all readers. Decision.
 */
export const LARGE_PIECE_BYTES = 512 * KIB
export const KEEPING_UP_BYTES = 4 * MIB
export const KEEPING_UP_MS = 100
export const READ_AHEAD_BYTES_MAX = 32 * MIB
/** Calls of `fsync` under way at once. Design §2, §5. */
export const FSYNCS_MAX = 8
/** Bytes that uploads leave free on the disk. Decision. */
export const STORAGE_SPARE_BYTES = 64 * MIB
/**
 * Inodes that uploads leave free there, where the file system has a number of them; of a small one a
 * hundredth. C33; Decision.
 */
export const STORAGE_SPARE_INODES = 10_000
/**
 * Transfers that one front has in its worker threads at once; `busy` beyond. A thread takes 256. Design §2.
 */
export const TRANSFERS_MAX = 512
export const SESSIONS_PER_THREAD_MAX = 256
/**
 * Bytes of uploads on their way to the threads of one front, and of them of one upload at least and at most.
 * Design §5.
 */
export const UPLOADS_BYTES_MAX = 64 * MIB
export const UPLOAD_WINDOW_BYTES_MIN = 128 * KIB
export const UPLOAD_WINDOW_BYTES_MAX = MIB
/** Bytes that are handed to a thread in one message. Design §5. */
export const COALESCED_BYTES_MIN = 64 * KIB
export const COALESCED_BYTES_MAX = 256 * KIB
/**
 * Pieces of a sealed download on their way from its thread, and bytes of them all in one front. Design §5;
 * Decision.
 */
export const OPENED_PIECES_MAX = 2
export const OPENED_BYTES_MAX = 64 * MIB
/** Milliseconds that sessions hold their thread before it looks at its messages again. Design §5. */
export const SESSION_TURN_MS = 4
/** Milliseconds that a thread with sessions may leave pings unanswered before it is ended. Design §5. */
export const THREAD_SILENT_MS_MAX = 5_000
/** Characters of a container id: a caller's own, and the part after `sess_` or `gen_`. C22. */
export const CONTAINER_ID_CHARS_MAX = 40
export const CONTAINER_ID_PART_CHARS_MAX = 64
/**
 * Bytes of a container path, which S3 counts with its prefix, and of one segment; segments of a path.
 * Decision.
 */
export const CONTAINER_PATH_BYTES_MAX = 768
export const PATH_SEGMENT_BYTES_MAX = 255
export const PATH_SEGMENTS_MAX = 32
/** Milliseconds between two writes of a container's last use. C10. */
export const CONTAINER_USE_MS = 3_600_000
/**
 * Milliseconds that a write waits for another of the same path, or for the removal of its container; `busy`
 * beyond. Decision.
 */
export const CONTAINER_WAIT_MS_MAX = 10_000
/**
 * Milliseconds after which the sweep looks again at what lies at a path that was put through Sluice, which
 * alone the quota counts: what a sandbox writes elsewhere is bounded by whoever gave it the storage, and must
 * not stop uploads. Decision.
 */
export const CONTAINER_RECOUNT_MS = 86_400_000

/** Levels of an uploaded JSON text beyond which it is reported as plain text. C26. */
export const JSON_TEXT_DEPTH_MAX = 10_000
/**
 * Entries, bytes of the directory, and times its size that an uploaded Office document may unpack to. C26.
 */
export const OOXML_ENTRIES_MAX = 10_000
export const OOXML_DIRECTORY_BYTES_MAX = 1_048_576
export const OOXML_RATIO_MAX = 200

/** Bytes of a provider's answer about files, which is parsed on the loop. Decision. */
export const PROVIDER_FILES_ANSWER_BYTES_MAX = MIB
/** Characters of a provider's file id. Decision. */
export const PROVIDER_FILE_ID_CHARS_MAX = 256
/**
 * Milliseconds of a call about a provider's files: less than CONTROL_DEADLINE_MS, so that the provider is
 * named. Decision.
 */
export const PROVIDER_FILES_CALL_MS = 9_000
/**
 * Milliseconds until a provider begins a download, and without a byte of it, or without taking one of an
 * upload. Decision.
 */
export const PROVIDER_DOWNLOAD_BEGIN_MS = 20_000
export const PROVIDER_FILE_STALL_MS = 30_000
/** Milliseconds that a provider may take to answer behind an upload's last byte. Decision. */
export const PROVIDER_UPLOAD_ANSWER_MS = 60_000
/**
 * Bytes that an upload to a provider is sent in; the last piece waits for the verdict. And what may wait for
 * it to read. Decision.
 */
export const PROVIDER_PIECE_BYTES = 64 * KIB
export const PROVIDER_UPLOAD_BYTES_MAX = 256 * KIB

/** Seconds from the creation of an uploaded file to the end that its uploader may give it. C37. */
export const FILE_EXPIRES_S_MIN = 3_600
export const FILE_EXPIRES_S_MAX = 2_592_000

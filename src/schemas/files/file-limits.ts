/** Named limits of files and of their storage, each with its unit and its source. */

import { KIB, MIB } from '../limits/limits.ts'

/** Bytes of all files of a workspace, stored ones and container files together. C10. */
export const STORAGE_QUOTA_BYTES_DEFAULT = 10 * 1024 * MIB
/**
 * The fewest bytes that the quota counts for an object, even an empty one, and for each folder of a
 * container, including the container's own: the space that they take on a disk. In a bucket they count the
 * same, so that a workspace's capacity does not depend on where its files are stored. C33; Decision.
 */
export const COUNTED_BYTES_MIN = 4 * KIB
/** Bytes by which the reservation of a body of unknown length grows. Decision. */
export const QUOTA_STEP_BYTES = MIB
/** Milliseconds of an upload's lease: the sweep removes an upload whose lease was not renewed for longer. Decision. */
export const UPLOAD_LEASE_MS = 60_000
/** Milliseconds between two renewals of an upload's lease. Decision. */
export const UPLOAD_RENEW_MS = 15_000
/** Bytes of an uploaded or promoted file. §8, C10. */
export const FILE_BYTES_MAX = 100 * MIB
/** Characters of a file's name. B1.7. */
export const FILENAME_CHARS_MAX = 255
/**
 * Bytes of a form without the file: the fields, all part headers, the preamble and the epilogue. Decision.
 */
export const FORM_EXTRA_BYTES_MAX = 3 * MIB
/** Characters of the `purpose` of an uploaded file. Decision. */
export const PURPOSE_CHARS_MAX = 64
/** Milliseconds of an upload, without the time in which its bytes are transferred. Decision. */
export const UPLOAD_DEADLINE_MS = 120_000
/** Milliseconds for which container files are kept after their container's last use. C10. */
export const CONTAINER_KEPT_MS = 30 * 86_400_000
/** Milliseconds between two checks by a node for abandoned uploads and expired files. Decision. */
export const SWEEP_UPLOADS_MS = 300_000
/** Milliseconds between two sweeps by a node; a sweep lists all of storage. Decision. */
export const SWEEP_MS = 3_600_000
/** Milliseconds until a download begins; its duration depends only on the reader. Decision. */
export const DOWNLOAD_DEADLINE_MS = 30_000
/** Files of a page, and container files of a page. B2.7, B2.8. */
export const FILES_PAGE_MAX = 1_000
/** Files or container files of a page when the request names no number. B2.7, B2.8. */
export const FILES_PAGE_DEFAULT = 100
/**
 * Bytes of one read from storage. A quarter of this size doubles the CPU time of a download; four times this
 * size costs memory and saves nothing.
 */
export const STORAGE_PIECE_BYTES = 256 * KIB
/** Bytes of one read from storage for a reader that is fast enough (KEEPING_UP_MS). Decision. */
export const LARGE_PIECE_BYTES = 512 * KIB
/** Milliseconds within which a reader must take a piece of STORAGE_PIECE_BYTES to count as keeping up (2.6 MB/s). Decision. */
export const KEEPING_UP_MS = 100
/** Concurrent calls of `fsync`. Design §2, §5. */
export const FSYNCS_MAX = 8
/** Concurrent transfers in the worker threads of one front; further ones fail with `busy`. Design §2. */
export const TRANSFERS_MAX = 512
/** Concurrent transfers in one worker thread. Design §2. */
export const SESSIONS_PER_THREAD_MAX = 256
/** Bytes in the buffers that a front has sent to its threads for all uploads and that are not yet processed. Design §5. */
export const UPLOADS_BYTES_MAX = 64 * MIB
/** Unprocessed bytes that one upload may always have in buffers sent to its thread. Design §5. */
export const UPLOAD_WINDOW_BYTES_MIN = 128 * KIB
/**
 * Bytes of memory that one upload takes in a front: its window, one more buffer, an encrypted piece that is
 * not yet written, and the state of the scan. Design §5; Decision.
 */
export const UPLOAD_BYTES_MAX = 2 * MIB
/** Unprocessed bytes of one upload in buffers sent to its thread. Design §5. */
export const UPLOAD_WINDOW_BYTES_MAX = UPLOAD_BYTES_MAX / 2
/** The fewest bytes of a buffer in which pushes are gathered for one message to a thread. Design §5. */
export const COALESCED_BYTES_MIN = 64 * KIB
/** Bytes of a buffer in which pushes are gathered for one message to a thread. Design §5. */
export const COALESCED_BYTES_MAX = 256 * KIB
/** Bytes of all sealed downloads of a front that its threads have sent and that are not yet taken. Design §5; Decision. */
export const OPENED_BYTES_MAX = 64 * MIB
/** Milliseconds for which a thread runs sessions before it reads its messages again. Design §5. */
export const SESSION_TURN_MS = 4
/** Milliseconds for which a thread with sessions may leave pings unanswered before it is terminated. Design §5. */
export const THREAD_SILENT_MS_MAX = 5_000
/** Characters of a container id that a caller chose. C22. */
export const CONTAINER_ID_CHARS_MAX = 40
/** Characters of a container id after `sess_` or `gen_`. C22. */
export const CONTAINER_ID_PART_CHARS_MAX = 64
/** Bytes of a container path; S3 counts the path with its prefix. Decision. */
export const CONTAINER_PATH_BYTES_MAX = 768
/** Segments of a container path. Decision. */
export const PATH_SEGMENTS_MAX = 32
/** Milliseconds between two writes of a container's last use. C10. */
export const CONTAINER_USE_MS = 3_600_000

/** Levels of an uploaded JSON text beyond which it is reported as plain text. C26. */
export const JSON_TEXT_DEPTH_MAX = 10_000
/** Entries of an uploaded Office document. C26. */
export const OOXML_ENTRIES_MAX = 10_000
/** Bytes of the directory of an uploaded Office document. C26. */
export const OOXML_DIRECTORY_BYTES_MAX = 1_048_576
/** Ratio of an uploaded Office document's unpacked size to its own size. C26. */
export const OOXML_RATIO_MAX = 200

/** The fewest seconds from the creation of an uploaded file to its expiry. C37. */
export const FILE_EXPIRES_S_MIN = 3_600
/** Seconds from the creation of an uploaded file to its expiry. C37. */
export const FILE_EXPIRES_S_MAX = 2_592_000

import { OPENED_BYTES_MAX, UPLOADS_BYTES_MAX } from '../files/file-limits.ts'
import { BODIES_BYTES_MAX, MIB } from '../limits/limits.ts'
import { UPSTREAM_ANSWERS_BYTES_MAX } from '../models/provider-limits.ts'
import { VETTED_ANSWERS_BYTES_MAX } from '../egress/egress-limits.ts'
import { SCIM_ANSWERS_BYTES_MAX } from '../scim/scim-limits.ts'
import { UNREAD_ANSWERS_BYTES_MAX } from '../limits/share-limits.ts'

/**
 * MiB of the old generation of a front's own heap. 50,000 calls in flight take about 200 MiB, full caches
 * 100, and a catalogue of 100,000 models 300. A front whose heap is full ends with SIGABRT and is replaced.
 * Without this limit V8 would choose one as a share of the machine's memory. Decision.
 */
export const FRONT_HEAP_MIB = 768
/**
 * MiB of the heap of the thread that encrypts and decrypts secrets. Secrets are outside the heap, which
 * contains the code. Decision.
 */
export const BRIEF_HEAP_MIB = 64
/**
 * MiB of the heap of the thread that reads large bodies. A 32 MiB body of short strings takes 330 MiB. A
 * translated body of JSON_VALUES_MAX integers with 17 digits takes no more, and parsed answers also stay
 * below this limit. Decision.
 */
export const LONG_HEAP_MIB = 768
/**
 * MiB of a front outside the heaps: code, stacks, session threads, and the memory of the system and the
 * library for 50,000 connections. Decision.
 */
export const FRONT_REST_MIB = 320

const BUDGETS = [
  BODIES_BYTES_MAX,
  UPSTREAM_ANSWERS_BYTES_MAX,
  VETTED_ANSWERS_BYTES_MAX,
  UNREAD_ANSWERS_BYTES_MAX,
  SCIM_ANSWERS_BYTES_MAX,
  UPLOADS_BYTES_MAX,
  OPENED_BYTES_MAX,
]
const BUDGETS_BYTES = BUDGETS.reduce((sum, bytes) => sum + bytes)
const HEAPS_MIB = FRONT_HEAP_MIB + BRIEF_HEAP_MIB + LONG_HEAP_MIB + FRONT_REST_MIB
/**
 * Bytes of a front's resident memory with all its limits reached at once: the memory that a pod or a systemd
 * unit gives each front. Decision.
 */
export const FRONT_BYTES_MAX = HEAPS_MIB * MIB + BUDGETS_BYTES
/** Bytes of a node's other processes: supervisor, runner and embedded stores. Decision. */
export const NODE_REST_BYTES = 512 * MIB

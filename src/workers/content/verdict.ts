import type { MimeType, TextType } from '../../schemas/files/mime-types.ts'

export type { MimeType, TextType }

/** The type of an upload, by its bytes alone. */
export type ContentVerdict = AcceptedContent | RefusedContent

export interface AcceptedContent {
  readonly ok: true
  readonly mimeType: MimeType
}

export interface RefusedContent {
  readonly ok: false
  /** An empty file gets a different refusal. */
  readonly isEmpty: boolean
  /** The found format, as a noun phrase for the refusal's text: `an MP4 video`, `UTF-16 text`. */
  readonly found: string
}

/**
 * The result of one type's scanner for the whole file. `foreign`: the file is certainly of another known
 * format, such as an Ogg video or a plain zip. `broken`: the file begins like the type but does not keep its
 * structure, so it may still be text. `unclaimed`: the file does not even begin like the type.
 */
export type StructureEnd =
  | { readonly kind: 'whole'; readonly mimeType: MimeType; readonly isOpen: boolean }
  | { readonly kind: 'foreign'; readonly found: string }
  | { readonly kind: 'broken'; readonly found: string }
  | { readonly kind: 'unclaimed' }

/** The scanner of one binary type. It sees every byte of a file, in order, in pieces of any size. */
export interface StructureScanner {
  /** Keeps no view of `chunk`. False: the scanner has its answer and needs no more bytes. */
  push(chunk: Uint8Array): boolean
  /** Call once, after the last byte or after a false. */
  finish(): StructureEnd
}

export const UNCLAIMED: StructureEnd = { kind: 'unclaimed' }

/** @param isOpen whether the file has no end mark, so that bytes after its end cannot be distinguished from it */
export function whole(mimeType: MimeType, isOpen = false): StructureEnd {
  return { kind: 'whole', mimeType, isOpen }
}

export function foreign(found: string): StructureEnd {
  return { kind: 'foreign', found }
}

/** @param what the type with its article: `a PNG image` @param claim the format of the bytes before or after the file */
export function joinedTo(what: string, claim: string): StructureEnd {
  return foreign(`${what} that is also ${claim}`)
}

/** @param what the type with its article: `a PNG image` */
export function broken(what: string): StructureEnd {
  return { kind: 'broken', found: `${what} that is damaged or cut short` }
}

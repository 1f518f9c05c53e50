import { SignatureTable, type Signature } from './signature-scan.ts'

/**
 * A signature that makes a file two formats at once: another program would read the file as that format, or
 * run it.
 */
export interface Intruder extends Signature {
  /** A noun phrase for the refusal's text. */
  readonly found: string
  /** Documents may describe pages and scripts. */
  readonly isMarkup?: boolean
}

const OUTSIDE_ARCHIVES: readonly Intruder[] = [
  { bytes: 'PK\x03\x04', found: 'a ZIP archive', holds: isZipEntry },
  { bytes: 'PK\x05\x06\0\0\0\0', found: 'a ZIP archive' },
  { bytes: 'ustar\x0000', found: 'a tar archive' },
  { bytes: 'ustar  \0', found: 'a tar archive' },
  { bytes: '\x1f\x8b\x08', found: 'a gzip archive', holds: isGzipHead },
  { bytes: '\xfd7zXZ\0', found: 'an xz archive' },
  { bytes: 'BZh', found: 'a bzip2 archive', holds: (view, at) => matches(view, at + 4, '1AY&SY') },
  { bytes: '\x28\xb5\x2f\xfd', found: 'a Zstandard archive', holds: isZstandardHead },
  { bytes: '\x04\x22\x4d\x18', found: 'an LZ4 archive', holds: isLz4Head },
  { bytes: 'LZIP\x01', found: 'an lzip archive' },
  { bytes: 'MSCF\0\0\0\0', found: 'a Windows cabinet archive' },
  { bytes: '!<arch>\n', found: 'an ar archive' },
  { bytes: 'xar!\0\x1c', found: 'a xar archive' },
  { bytes: '**ACE**', found: 'an ACE archive' },
  { bytes: '\xed\xab\xee\xdb\x03', found: 'an RPM package' },
  { bytes: '-l', found: 'an LHA archive', holds: isLhaMethod },
  { bytes: '07070', found: 'a cpio archive', holds: isCpioHead },
]

const OUTSIDE_PROGRAMS: readonly Intruder[] = [
  {
    bytes: '\x7fELF',
    found: 'an ELF executable',
    holds: (view, at) => isOneOf(view[at + 4], 1, 2) && isOneOf(view[at + 5], 1, 2),
  },
  { bytes: 'PE\0\0', found: 'a Windows executable', holds: isWindowsMachine },
  { bytes: 'This program cannot be run in DOS mode', found: 'a Windows executable' },
  { bytes: '\xcf\xfa\xed\xfe', found: 'a Mach-O executable', holds: isAppleMachine },
  { bytes: '\xce\xfa\xed\xfe', found: 'a Mach-O executable', holds: isAppleMachine },
  {
    bytes: '\xfe\xed\xfa\xcf',
    found: 'a Mach-O executable',
    holds: (view, at) => isOneOf(view[at + 4], 0, 1),
  },
  { bytes: '\xfe\xed\xfa\xce\0\0\0', found: 'a Mach-O executable' },
  { bytes: '\xca\xfe\xba\xbe\0\0\0', found: 'a Mach-O executable or Java class' },
  { bytes: '\0asm\x01\0\0\0', found: 'a WebAssembly module' },
  { bytes: 'dex\n03', found: 'an Android executable' },
  { bytes: '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', found: 'an old Office document or installer (OLE)' },
  { bytes: '%PDF-', found: 'a PDF document', holds: (view, at) => isDigit(view[at + 5]) },
]

const OUTSIDE_MARKUP: readonly Intruder[] = [
  ...[
    '<svg',
    '<head',
    '<object',
    '<embed',
    '<form',
    '<style',
    '<meta',
    '<img',
    '<link',
    '<title',
    '<table',
  ].map(tag),
  {
    bytes: '<!--',
    found: 'an HTML page',
    holds: (view, at) => isOneOf(view[at + 4], 0x0a, 0x0d, 0x20, 0x5b),
  },
  {
    bytes: '<%@',
    found: 'a server-side script',
    holds: (view, at) => isOneOf(view[at + 3], 0x20, 0x70, 0x50),
  },
  { bytes: '#!/bin/', found: 'a script' },
  { bytes: '#!/usr/', found: 'a script' },
]

/** Signatures of formats that programs find, or run, anywhere in a file. */
const ANYWHERE: readonly Intruder[] = [
  { bytes: 'Rar!\x1a\x07', found: 'a RAR archive' },
  { bytes: '7z\xbc\xaf\x27\x1c', found: 'a 7-Zip archive' },
  { bytes: '__HALT_COMPILER();', found: 'a PHP archive' },
  { bytes: '\x01CD001\x01', found: 'a disk image' },
  ...['<script', '<html', '<body', '<iframe'].map(tag),
  { bytes: '<!doctype html', isCaseless: true, found: 'an HTML page', isMarkup: true },
  { bytes: '<?php', isCaseless: true, found: 'a PHP script', isMarkup: true },
]

export const INTRUDERS_ANYWHERE = new SignatureTable<Intruder>(4, ANYWHERE)

/**
 * Signatures that count before the beginning and after the end of a file's format, together with ANYWHERE.
 * Inside a file they occur by chance, or in data that no program searches.
 */
export const INTRUDERS_OUTSIDE = new SignatureTable<Intruder>(1, [
  ...ANYWHERE,
  ...OUTSIDE_ARCHIVES,
  ...OUTSIDE_PROGRAMS,
  ...OUTSIDE_MARKUP,
])

/** A tag's name is followed by white space, `/` or `>`: four letters alone occur in noise by chance. */
function tag(bytes: string): Intruder {
  return {
    bytes,
    isCaseless: true,
    isMarkup: true,
    found: 'an HTML page',
    holds: (view, at) =>
      isOneOf(view[at + bytes.length], 0x20, 0x09, 0x0a, 0x0c, 0x0d, 0x2f, 0x3e) &&
      (bytes.length > 5 || isOfOneCase(view, at)),
  }
}

/** Whether the three letters after the bracket have the same case, which is rare in noise. */
function isOfOneCase(view: Uint8Array, at: number): boolean {
  const [first = 0, second = 0, third = 0] = view.subarray(at + 1, at + 4)
  return ((first ^ second) & 0x20) === 0 && ((second ^ third) & 0x20) === 0
}

function isOneOf(byte: number | undefined, ...wanted: readonly number[]): boolean {
  return byte !== undefined && wanted.includes(byte)
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39
}

function matches(view: Uint8Array, at: number, text: string): boolean {
  return String.fromCharCode(...view.subarray(at, at + text.length)) === text
}

const ZIP_METHODS = [0, 1, 6, 8, 9, 12, 14, 20, 93, 94, 95, 96, 97, 98, 99]

/** An entry's header by its version, method and the first character of its name. */
function isZipEntry(view: Uint8Array, at: number): boolean {
  const nameBytes = (view[at + 26] ?? 0) | ((view[at + 27] ?? 0) << 8)
  const isNamed = nameBytes > 0 && nameBytes <= 1_024 && (view[at + 30] ?? 0) >= 0x20
  return (
    isNamed && (view[at + 4] ?? 0xff) <= 63 && view[at + 9] === 0 && isOneOf(view[at + 8], ...ZIP_METHODS)
  )
}

/** No reserved flag, and a level and an operating system that the format defines. */
function isGzipHead(view: Uint8Array, at: number): boolean {
  const system = view[at + 9] ?? 0xfe
  return (view[at + 3] ?? 0xff) < 0x20 && isOneOf(view[at + 8], 0, 2, 4) && (system <= 13 || system === 0xff)
}

/** The reserved bits of the frame's descriptor are zero, and no dictionary is named. */
function isZstandardHead(view: Uint8Array, at: number): boolean {
  return ((view[at + 4] ?? 0xff) & 0x1b) === 0
}

function isLz4Head(view: Uint8Array, at: number): boolean {
  return ((view[at + 4] ?? 0) & 0xc2) === 0x40 && ((view[at + 5] ?? 0xff) & 0x8f) === 0
}

function isLhaMethod(view: Uint8Array, at: number): boolean {
  return /^-l(?:h[0-9dx]|z[s45]|p[012m])-$/.test(String.fromCharCode(...view.subarray(at, at + 5)))
}

function isCpioHead(view: Uint8Array, at: number): boolean {
  return /^(?:07070[12][0-9a-f]{24}|070707[0-7]{24})$/i.test(
    String.fromCharCode(...view.subarray(at, at + 30)),
  )
}

const WINDOWS_MACHINES = [0x014c, 0x8664, 0xaa64, 0x01c0, 0x01c4, 0x0200]

function isWindowsMachine(view: Uint8Array, at: number): boolean {
  return WINDOWS_MACHINES.includes((view[at + 4] ?? 0) | ((view[at + 5] ?? 0) << 8))
}

/** x86 or ARM, of 32 or 64 bits, little-endian. */
function isAppleMachine(view: Uint8Array, at: number): boolean {
  return (
    isOneOf(view[at + 4], 7, 12) && view[at + 5] === 0 && view[at + 6] === 0 && isOneOf(view[at + 7], 0, 1)
  )
}

/** First bytes of a file that are needed to name it. */
export const SIGNATURE_BYTES = 1_024

/**
 * Names the probable format of a refused file by its first bytes. Only for the refusal's text: acceptance is
 * never decided here.
 * @param head the file's first SIGNATURE_BYTES bytes, one character for each byte
 */
export function nameBySignature(head: string): SignatureName | null {
  for (const { at = 0, begins, found } of SIGNATURES) {
    const bytes = begins.find((begin) => head.startsWith(begin, at))
    if (bytes === undefined) continue
    return { found: typeof found === 'string' ? found : found(head), isSure: !/^[ -~\n]+$/.test(bytes) }
  }
  if (isTransportStream(head)) return { found: 'an MPEG transport stream', isSure: false }
  return isOldTar(head) ? { found: 'a tar archive', isSure: true } : null
}

export interface SignatureName {
  readonly found: string
  /** False: the signature consists of letters, with which a text may begin too. */
  readonly isSure: boolean
}

interface Signature {
  readonly at?: number
  readonly begins: readonly string[]
  readonly found: string | ((head: string) => string)
}

const SIGNATURES: readonly Signature[] = [
  { begins: ['\x7fELF'], found: 'an ELF executable' },
  { begins: ['MZ'], found: windowsProgram },
  {
    begins: ['\xfe\xed\xfa\xce', '\xfe\xed\xfa\xcf', '\xce\xfa\xed\xfe', '\xcf\xfa\xed\xfe'],
    found: 'a Mach-O executable',
  },
  { begins: ['\xca\xfe\xba\xbe'], found: javaOrMachO },
  { begins: ['\0asm'], found: 'a WebAssembly module' },
  { begins: ['dex\n'], found: 'an Android executable' },
  { begins: ['PK\x03\x04', 'PK\x05\x06', 'PK\x07\x08'], found: 'a ZIP archive' },
  { begins: ['\x1f\x8b'], found: 'a gzip archive' },
  { begins: ['7z\xbc\xaf\x27\x1c'], found: 'a 7-Zip archive' },
  { begins: ['Rar!\x1a\x07'], found: 'a RAR archive' },
  { begins: ['\xfd7zXZ\0'], found: 'an xz archive' },
  { begins: ['\x28\xb5\x2f\xfd'], found: 'a Zstandard archive' },
  { begins: ['BZh'], found: 'a bzip2 archive' },
  { begins: ['\x04\x22\x4d\x18'], found: 'an LZ4 archive' },
  { begins: ['LZIP'], found: 'an lzip archive' },
  { begins: ['MSCF\0'], found: 'a Windows cabinet archive' },
  { begins: ['!<arch>\n'], found: 'an ar archive' },
  { begins: ['\x1f\x9d', '\x1f\xa0'], found: 'a compressed archive' },
  { at: 257, begins: ['ustar'], found: 'a tar archive' },
  { at: 4, begins: ['ftyp'], found: isoMedia },
  { at: 4, begins: ['moov', 'mdat', 'wide', 'free', 'skip'], found: 'a QuickTime video' },
  { begins: ['\x1a\x45\xdf\xa3'], found: matroska },
  { begins: ['RIFF', 'RIFX', 'RF64'], found: riffForm },
  { begins: ['FLV\x01'], found: 'a Flash video' },
  { begins: ['\x30\x26\xb2\x75\x8e\x66\xcf\x11'], found: 'a Windows Media file' },
  { begins: ['\0\0\x01\xba', '\0\0\x01\xb3'], found: 'an MPEG video' },
  { begins: ['OggS'], found: 'an Ogg file' },
  { begins: ['FORM'], found: iffForm },
  { begins: ['MThd'], found: 'a MIDI file' },
  { begins: ['#!AMR'], found: 'AMR audio' },
  { begins: ['\xff\xf0', '\xff\xf1', '\xff\xf8', '\xff\xf9'], found: 'AAC audio' },
  { begins: ['ADIF'], found: 'AAC audio' },
  {
    begins: ['\xff\xfa', '\xff\xfb', '\xff\xf2', '\xff\xf3', '\xff\xe2', '\xff\xe3'],
    found: 'MPEG audio without a complete frame',
  },
  { begins: ['\xff\xfc', '\xff\xfd', '\xff\xf4', '\xff\xf5'], found: 'MPEG layer II audio' },
  { begins: ['.snd'], found: 'an AU audio file' },
  { begins: ['wvpk'], found: 'a WavPack audio file' },
  { begins: ['MAC '], found: "a Monkey's Audio file" },
  { begins: ['BM'], found: 'a BMP image' },
  { begins: ['II*\0', 'MM\0*', 'II+\0', 'MM\0+'], found: 'a TIFF image' },
  { begins: ['\0\0\x01\0'], found: 'an icon' },
  { begins: ['\0\0\x02\0'], found: 'a cursor' },
  { begins: ['8BPS'], found: 'a Photoshop document' },
  { begins: ['\0\0\0\x0cJXL ', '\xff\x0a'], found: 'a JPEG XL image' },
  { begins: ['\0\0\0\x0cjP  ', '\xff\x4f\xff\x51'], found: 'a JPEG 2000 image' },
  { begins: ['\x89PNG'], found: 'a damaged PNG image' },
  { begins: ['\x8aMNG', '\x8bJNG'], found: 'an MNG animation' },
  { begins: ['\xff\xd8\xff'], found: 'a damaged JPEG image' },
  { begins: ['GIF8'], found: 'a damaged GIF image' },
  { begins: ['fLaC'], found: 'a damaged FLAC audio file' },
  { begins: ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1'], found: 'an old or encrypted Office document (OLE)' },
  { begins: ['SQLite format 3\0'], found: 'an SQLite database' },
  { begins: ['PAR1'], found: 'a Parquet file' },
  { begins: ['ARROW1'], found: 'an Arrow file' },
  { begins: ['\x93NUMPY'], found: 'a NumPy array' },
  { begins: ['wOFF', 'wOF2', 'OTTO', '\0\x01\0\0\0'], found: 'a font' },
  { begins: ['%!PS', '\xc5\xd0\xd3\xc6'], found: 'a PostScript document' },
  { begins: ['AT&TFORM'], found: 'a DjVu document' },
  { begins: ['SLS1'], found: 'a file encrypted by Sluice' },
]

function windowsProgram(head: string): string {
  const at = head.charCodeAt(0x3c) | (head.charCodeAt(0x3d) << 8)
  return head.startsWith('PE\0\0', at) ? 'a Windows executable' : 'a DOS or Windows executable'
}

/** Fat Mach-O states the number of its architectures, a Java class its version, which is 45 or more. */
function javaOrMachO(head: string): string {
  return head.charCodeAt(7) < 45 && head.startsWith('\0\0\0', 4) ? 'a Mach-O executable' : 'a Java class'
}

/** By the brand of an ISO media file. */
function isoMedia(head: string): string {
  const brand = head.slice(8, 12)
  if (/^M4[AB]/.test(brand)) return 'M4A (AAC) audio'
  if (/^avi[fs]/.test(brand)) return 'an AVIF image'
  if (/^(?:hei[cxms]|hev[cxms]|mif1|msf1)/.test(brand)) return 'a HEIC image'
  if (brand === 'qt  ') return 'a QuickTime video'
  if (brand.startsWith('3g')) return 'a 3GP video'
  return brand === 'crx ' ? 'a camera raw image' : 'an MP4 video'
}

function matroska(head: string): string {
  return head.includes('webm') ? 'a WebM video' : 'a Matroska video'
}

function riffForm(head: string): string {
  const form = head.slice(8, 12)
  if (form === 'AVI ') return 'an AVI video'
  if (form === 'ACON') return 'an animated cursor'
  if (form === 'RMID') return 'a MIDI file'
  return /^[ -~]{4}$/.test(form) ? `a ${head.slice(0, 4)} file of type ${form.trim()}` : 'a damaged RIFF file'
}

function iffForm(head: string): string {
  return /^AIF[FC]$/.test(head.slice(8, 12)) ? 'an AIFF audio file' : 'an IFF file'
}

/** Packets of 188 bytes, each with the same first byte. */
function isTransportStream(head: string): boolean {
  return [0, 188, 376].every((at) => head[at] === 'G')
}

/**
 * Recognizes archives older than `ustar`: the header's checksum, in octal, is the sum of its bytes with
 * spaces in place of the checksum.
 */
function isOldTar(head: string): boolean {
  const written = /^ *([0-7]{1,7})[\0 ]/.exec(head.slice(148, 156))?.[1]
  if (written === undefined || head.length < 512) return false
  let sum = 8 * 0x20
  for (let at = 0; at < 512; at++) if (at < 148 || at >= 156) sum += head.charCodeAt(at)
  return sum === Number.parseInt(written, 8)
}

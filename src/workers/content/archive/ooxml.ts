import { inflateRawSync } from 'node:zlib'
import { foreign, whole, type MimeType, type StructureEnd } from '../verdict.ts'
import { hashName, type ZipEntries } from './zip-entries.ts'

/** Bytes of the compressed `[Content_Types].xml`: ten thousand parts fit. Decision. */
const PACKED_BYTES_MAX = 131_072
/** Bytes of the uncompressed `[Content_Types].xml`. Decision. */
const PLAIN_BYTES_MAX = 1_048_576

/** The compressed bytes of one entry, kept while they stream by, up to a limit. */
export class PackedPart {
  readonly #isDeflated: boolean
  #pieces: Uint8Array[] = []
  #length = 0

  constructor(isDeflated: boolean) {
    this.#isDeflated = isDeflated
  }

  add(bytes: Uint8Array): void {
    this.#length += bytes.length
    if (this.#length <= PACKED_BYTES_MAX && bytes.length > 0) this.#pieces.push(new Uint8Array(bytes))
    else if (this.#length > PACKED_BYTES_MAX) this.#pieces = []
  }

  /** The part's text, or null when it exceeds the bounds or is not deflate. */
  text(): string | null {
    if (this.#length > PACKED_BYTES_MAX) return null
    const packed = Buffer.concat(this.#pieces)
    const plain = this.#isDeflated ? inflate(packed) : packed
    if (plain === null) return null
    return plain[0] === 0xff && plain[1] === 0xfe ? plain.toString('utf16le') : plain.toString('utf8')
  }
}

function inflate(packed: Buffer): Buffer | null {
  try {
    return inflateRawSync(packed, { maxOutputLength: PLAIN_BYTES_MAX })
  } catch {
    return null
  }
}

const FORMATS = 'application/vnd.openxmlformats-officedocument.'

const MAIN_PARTS: ReadonlyMap<string, MimeType> = new Map([
  [`${FORMATS}wordprocessingml.document.main+xml`, `${FORMATS}wordprocessingml.document`],
  [`${FORMATS}spreadsheetml.sheet.main+xml`, `${FORMATS}spreadsheetml.sheet`],
  [`${FORMATS}presentationml.presentation.main+xml`, `${FORMATS}presentationml.presentation`],
])
/** Matches main parts, sheets of macros and projects of macros, but not an embedded workbook with macros. */
const MACROS = /macroenabled(?:template)?\.main(?:\+xml)?$|vbaproject|macrosheet\+xml$/
/** Matches the main parts of templates, slide shows and add-ins. */
const TEMPLATE = /(?:template|slideshow|addin)\.main\+xml$/
/** Entries that make a document a program or a package of another kind as well. */
const PROGRAMS = ['META-INF/MANIFEST.MF', 'AndroidManifest.xml', '.phar/stub.php', 'mimetype'].map((name) =>
  hashName(Buffer.from(name)),
)

/**
 * Determines the kind of Office document of a package, by its parts and their types: a type for a part's
 * name, otherwise for its extension, as OPC reads them. A type without a part does not count. Exactly one
 * accepted kind of main part must be present, and no macro.
 */
export function judgeOffice(types: PackedPart, entries: ZipEntries): StructureEnd {
  const text = types.text()
  if (text === null) return foreign('an Office document whose content types cannot be read')
  const { byName, byExtension } = declaredTypes(text)
  const found = [...entries.typesOf(byName, byExtension)]
  if (found.some((type) => MACROS.test(type))) return foreign('an Office document with macros')
  if (PROGRAMS.some((name) => entries.hasName(name)))
    return foreign('an Office document that is also another archive')
  const kinds = new Set(found.flatMap((type) => MAIN_PARTS.get(type) ?? []))
  const [kind] = kinds
  if (kind !== undefined && kinds.size === 1) return whole(kind)
  if (kinds.size > 1) return foreign('an Office document of several kinds at once')
  if (found.some((type) => TEMPLATE.test(type))) return foreign('an Office template or slide show')
  return foreign('a ZIP archive whose content types are not DOCX, XLSX or PPTX')
}

/** Types in lower case by hashes of part names and of extensions. */
interface DeclaredTypes {
  readonly byName: ReadonlyMap<number, string>
  readonly byExtension: ReadonlyMap<number, string>
}

function declaredTypes(text: string): DeclaredTypes {
  const byName = new Map<number, string>()
  const byExtension = new Map<number, string>()
  for (const [, attributes = ''] of withoutComments(text).matchAll(ELEMENT)) {
    const type = firstGroup(TYPE.exec(attributes))?.toLowerCase()
    const part = firstGroup(PART.exec(attributes))
    const extension = firstGroup(EXTENSION.exec(attributes))
    if (type === undefined) continue
    if (part !== null) byName.set(hashName(Buffer.from(part.replace(/^[\\/]/, ''))), type)
    else if (extension !== null) byExtension.set(hashName(Buffer.from(extension)), type)
  }
  return { byName, byExtension }
}

const ELEMENT = /<(?:[\w.-]+:)?(?:Override|Default)\s([^<>]*)>/g
const TYPE = /(?:^|\s)ContentType\s*=\s*(?:"([^"]*)"|'([^']*)')/
const PART = /(?:^|\s)PartName\s*=\s*(?:"([^"]*)"|'([^']*)')/
const EXTENSION = /(?:^|\s)Extension\s*=\s*(?:"([^"]*)"|'([^']*)')/

function firstGroup(found: RegExpExecArray | null): string | null {
  return found?.[1] ?? found?.[2] ?? null
}

function withoutComments(text: string): string {
  let kept = ''
  let from = 0
  for (let at = text.indexOf('<!--'); at >= 0; at = text.indexOf('<!--', from)) {
    kept += text.slice(from, at)
    const end = text.indexOf('-->', at + 4)
    if (end < 0) return kept
    from = end + 3
  }
  return kept + text.slice(from)
}

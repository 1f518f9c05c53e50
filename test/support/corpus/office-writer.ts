/** Writes Office documents: their parts, and the content types of these. */
import { utf8 } from './bytes.ts'
import { zip, type EntryOptions, type ZipOptions } from './zip-writer.ts'

export const FORMATS = 'application/vnd.openxmlformats-officedocument.'
export const DOCX = `${FORMATS}wordprocessingml.document`
export const XLSX = `${FORMATS}spreadsheetml.sheet`
export const PPTX = `${FORMATS}presentationml.presentation`
export const TYPES_NAME = '[Content_Types].xml'

export function override(part: string, type: string): string {
  return `<Override PartName="/${part}" ContentType="${type}"/>`
}

export function types(...inner: string[]): string {
  const start = '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
  const xml = '<Default Extension="xml" ContentType="application/xml"/>'
  return `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n${start}${xml}${inner.join('')}</Types>`
}

export function entry(name: string, text: string): EntryOptions {
  return { name, data: utf8(text) }
}

export const RELS = entry('_rels/.rels', '<Relationships/>')

/** @param change how each entry is written */
export function office(
  main: string,
  type: string,
  change: Partial<EntryOptions> = {},
  options: ZipOptions = {},
): Buffer {
  const parts = [
    entry(TYPES_NAME, types(override(main, `${type}.main+xml`))),
    RELS,
    entry(main, '<x>Hello</x>'.repeat(9)),
  ]
  return zip(
    parts.map((part) => ({ ...part, ...change })),
    options,
  )
}

export const docx = (change: Partial<EntryOptions> = {}, options: ZipOptions = {}): Buffer =>
  office('word/document.xml', DOCX, change, options)

/** A document with further entries, its content types first, or last. */
export function docxWith(
  extra: readonly EntryOptions[],
  options: { typesLast?: boolean; types?: string } & ZipOptions = {},
): Buffer {
  const declared = entry(
    TYPES_NAME,
    options.types ?? types(override('word/document.xml', `${DOCX}.main+xml`)),
  )
  const parts = [RELS, entry('word/document.xml', '<w/>'), ...extra]
  return zip(options.typesLast === true ? [...parts, declared] : [declared, ...parts], options)
}

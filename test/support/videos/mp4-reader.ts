/**
 * What a file says of itself. A reader of its own, written from ISO/IEC 14496-12 and -15; it decodes nothing.
 */
export interface Mp4Facts {
  /** Types of the outermost boxes, in their order. */
  readonly boxes: readonly string[]
  readonly brands: readonly string[]
  /** Seconds by the movie's header, and by the table of the frames' times. */
  readonly seconds: number
  readonly secondsOfFrames: number
  readonly frames: number
  /** Counted from 1. */
  readonly keyFrames: readonly number[]
  readonly codec: string
  readonly width: number
  readonly height: number
  /** Profile, as in `avcC`: 66 is baseline. */
  readonly profile: number
  /** When it was made and changed, by its headers; 0 is not said. */
  readonly instants: readonly number[]
  /** Whether each frame lies in `mdat` where the tables say, as whole NAL units. */
  readonly isWhole: boolean
}

interface Span {
  readonly type: string
  readonly from: number
  readonly to: number
}

/** Throws where the bytes are no such file. */
export function readMp4(bytes: Uint8Array): Mp4Facts {
  const file = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  const outer = spans(file, 0, file.length)
  const find = (from: Span | null, ...path: readonly string[]): Span => descend(file, from, path)
  const [ftyp, moov] = [find(null, 'ftyp'), find(null, 'moov')]
  const media = find(moov, 'trak', 'mdia')
  const table = find(media, 'minf', 'stbl')
  const [mvhd, mdhd, entry] = [find(moov, 'mvhd'), find(media, 'mdhd'), find(table, 'stsd').from + 8]
  const sizes = sizesOf(file, find(table, 'stsz'))
  return {
    boxes: outer.map(({ type }) => type),
    brands: [
      text(file, ftyp.from),
      ...Array.from({ length: (ftyp.to - ftyp.from - 8) / 4 }, (_, nth) =>
        text(file, ftyp.from + 8 + 4 * nth),
      ),
    ],
    seconds: file.readUInt32BE(mvhd.from + 16) / file.readUInt32BE(mvhd.from + 12),
    secondsOfFrames: ticksOf(file, find(table, 'stts')) / file.readUInt32BE(mdhd.from + 12),
    frames: sizes.length,
    keyFrames: keyFramesOf(
      file,
      spans(file, table.from, table.to).find(({ type }) => type === 'stss'),
      sizes.length,
    ),
    codec: text(file, entry + 4),
    width: file.readUInt16BE(entry + 32),
    height: file.readUInt16BE(entry + 34),
    profile: file.readUInt8(
      spanOf(spans(file, entry + 86, entry + file.readUInt32BE(entry)), 'avcC').from + 1,
    ),
    instants: [mvhd, mdhd, find(moov, 'trak', 'tkhd')].flatMap(({ from }) => [
      file.readUInt32BE(from + 4),
      file.readUInt32BE(from + 8),
    ]),
    isWhole: isWhole(file, { places: placesOf(file, table, sizes), mdat: find(null, 'mdat') }),
  }
}

function text(file: Buffer, at: number): string {
  return file.toString('latin1', at, at + 4)
}

function spans(file: Buffer, from: number, to: number): readonly Span[] {
  const found: Span[] = []
  for (let at = from; at < to;) {
    const size = file.readUInt32BE(at)
    if (size < 8 || at + size > to) throw new Error(`a box of ${size} bytes at ${at}`)
    found.push({ type: text(file, at + 4), from: at + 8, to: at + size })
    at += size
  }
  return found
}

function spanOf(all: readonly Span[], type: string): Span {
  const [found, ...more] = all.filter((span) => span.type === type)
  if (found === undefined || more.length > 0) throw new Error(`${more.length + 1} boxes ${type}, or none`)
  return found
}

function descend(file: Buffer, from: Span | null, path: readonly string[]): Span {
  let at = from ?? { type: 'file', from: 0, to: file.length }
  for (const type of path) at = spanOf(spans(file, at.from, at.to), type)
  return at
}

function sizesOf(file: Buffer, { from }: Span): readonly number[] {
  const same = file.readUInt32BE(from + 4)
  return Array.from({ length: file.readUInt32BE(from + 8) }, (_, nth) =>
    same === 0 ? file.readUInt32BE(from + 12 + 4 * nth) : same,
  )
}

function ticksOf(file: Buffer, { from }: Span): number {
  let ticks = 0
  for (let nth = 0; nth < file.readUInt32BE(from + 4); nth++)
    ticks += file.readUInt32BE(from + 8 + 8 * nth) * file.readUInt32BE(from + 12 + 8 * nth)
  return ticks
}

/** Without a table every frame is one. */
function keyFramesOf(file: Buffer, stss: Span | undefined, frames: number): readonly number[] {
  if (stss === undefined) return Array.from({ length: frames }, (_, nth) => nth + 1)
  return Array.from({ length: file.readUInt32BE(stss.from + 4) }, (_, nth) =>
    file.readUInt32BE(stss.from + 8 + 4 * nth),
  )
}

/** Where each frame begins and ends, by `stco` or `co64`, `stsc` and the sizes. */
function placesOf(
  file: Buffer,
  table: Span,
  sizes: readonly number[],
): readonly { readonly from: number; readonly to: number }[] {
  const inner = spans(file, table.from, table.to)
  const stsc = spanOf(inner, 'stsc')
  const short = inner.find(({ type }) => type === 'stco')
  const chunks = short ?? spanOf(inner, 'co64')
  const places: { from: number; to: number }[] = []
  let run = 0
  for (let chunk = 1; chunk <= file.readUInt32BE(chunks.from + 4); chunk++) {
    const next = stsc.from + 8 + 12 * (run + 1)
    if (run + 1 < file.readUInt32BE(stsc.from + 4) && file.readUInt32BE(next) === chunk) run++
    let at =
      short === undefined
        ? Number(file.readBigUInt64BE(chunks.from + 8 * chunk))
        : file.readUInt32BE(chunks.from + 4 + 4 * chunk)
    for (let nth = 0; nth < file.readUInt32BE(stsc.from + 12 + 12 * run); nth++) {
      const size = sizes[places.length] ?? Number.NaN
      places.push({ from: at, to: at + size })
      at += size
    }
  }
  return places
}

function isWhole(
  file: Buffer,
  {
    places,
    mdat,
  }: { readonly places: readonly { readonly from: number; readonly to: number }[]; readonly mdat: Span },
): boolean {
  return places.every(({ from, to }) => {
    if (from < mdat.from || to > mdat.to) return false
    let at = from
    while (at + 4 < to) at += 4 + file.readUInt32BE(at)
    return at === to
  })
}

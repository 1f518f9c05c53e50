/**
 * The facts of a zip's entries, kept while they stream by, for comparison with the directory that follows them. 17
 * bytes per entry: at most 280 KB.
 */
export class ZipEntries {
  count = 0
  #offsets = new Uint32Array(FIRST_ROOM)
  #names = new Uint32Array(FIRST_ROOM)
  #extensions = new Uint32Array(FIRST_ROOM)
  #packed = new Uint32Array(FIRST_ROOM)
  #claimed = new Uint8Array(FIRST_ROOM)

  /** Offsets come in rising order. */
  add(entry: ZipEntry): void {
    if (this.count === this.#offsets.length) this.#grow()
    this.#offsets[this.count] = entry.offset
    this.#names[this.count] = entry.nameHash
    this.#extensions[this.count] = entry.extensionHash
    this.#packed[this.count] = entry.packedBytes
    this.count++
  }

  /** Whether a line of the directory names an existing entry, states the same facts, and is the first line to do so. */
  claim(entry: Omit<ZipEntry, 'extensionHash'>): boolean {
    const nth = this.#find(entry.offset)
    if (nth < 0 || this.#claimed[nth] === 1) return false
    this.#claimed[nth] = 1
    return this.#names[nth] === entry.nameHash && this.#packed[nth] === entry.packedBytes
  }

  hasName(nameHash: number): boolean {
    return this.#names.subarray(0, this.count).includes(nameHash)
  }

  /** The types of all parts: a part's type by its name, otherwise by its extension. Both are given by their hashes. */
  typesOf(
    byName: ReadonlyMap<number, string>,
    byExtension: ReadonlyMap<number, string>,
  ): ReadonlySet<string> {
    const types = new Set<string>()
    for (let nth = 0; nth < this.count; nth++) {
      const type = byName.get(this.#names[nth] ?? 0) ?? byExtension.get(this.#extensions[nth] ?? 0)
      if (type !== undefined) types.add(type)
    }
    return types
  }

  #find(offset: number): number {
    let [low, high] = [0, this.count - 1]
    while (low <= high) {
      const middle = (low + high) >>> 1
      const found = this.#offsets[middle] ?? 0
      if (found === offset) return middle
      if (found < offset) low = middle + 1
      else high = middle - 1
    }
    return -1
  }

  #grow(): void {
    this.#offsets = grown(this.#offsets, new Uint32Array(2 * this.count))
    this.#names = grown(this.#names, new Uint32Array(2 * this.count))
    this.#extensions = grown(this.#extensions, new Uint32Array(2 * this.count))
    this.#packed = grown(this.#packed, new Uint32Array(2 * this.count))
    this.#claimed = grown(this.#claimed, new Uint8Array(2 * this.count))
  }
}

export interface ZipEntry {
  /** Offset of the entry's header in the file. */
  readonly offset: number
  readonly nameHash: number
  readonly extensionHash: number
  readonly packedBytes: number
}

const FIRST_ROOM = 64

function grown<A extends Uint8Array | Uint32Array>(old: A, room: A): A {
  room.set(old)
  return room
}

/**
 * FNV-1a over a name in lower case, with `/` for `\`, which some writers of Office documents put between
 * folders: different part names differ in more than case and separators. 32 bits, enough for a lookup.
 */
export function hashName(bytes: Uint8Array, start = 0, end = bytes.length): number {
  let hash = 0x811c9dc5
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    const lower = byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte === BACKSLASH ? SLASH : byte
    hash = Math.imul(hash ^ lower, 0x01000193)
  }
  return hash >>> 0
}

/** Whether a byte of a name separates two folders. */
export function isSeparator(byte: number | undefined): boolean {
  return byte === SLASH || byte === BACKSLASH
}

const SLASH = 0x2f
const BACKSLASH = 0x5c

import { USAGE_OURS } from '../../../../schemas/inference/text-members.ts'
import { ODD, ObjectWalk, type Members } from '../../../../dialects/walk/object-walk.ts'
import { writtenAnew } from '../walk/written-anew.ts'

/**
 * The members of a usage as the provider told it, without its braces and without those that Sluice alone
 * tells.
 * @param usage one JSON object, without white space around it
 * @returns null: it cannot be read
 */
export function toldMembers(usage: Buffer): readonly Uint8Array[] | null {
  const read = membersOf(usage)
  if (read !== null) return read
  const written = writtenAnew(usage, (top) => {
    for (const name of USAGE_OURS) delete top[name]
  })
  return written === null ? null : membersOf(written)
}

/** Null: a name with an escape. */
function membersOf(usage: Buffer): readonly Uint8Array[] | null {
  const walk = new ObjectWalk()
  walk.begin(usage)
  if (walk.object(new OtherMembers(walk), 0, 0, 1) !== usage.length) return null
  return walk.pieces(1, usage.length - 1)
}

/** An object some of whose members are cut. */
class OtherMembers implements Members {
  readonly itemsMax = 0
  readonly #walk: ObjectWalk

  constructor(walk: ObjectWalk) {
    this.#walk = walk
  }

  begin(): void {
    return
  }

  member(key: number, length: number, at: number, depth: number): number {
    const { json } = this.#walk
    const end = json.value(at, depth)
    const name = json.bytes.toString('latin1', key, key + length)
    return end > 0 && USAGE_OURS.has(name) ? this.#walk.cut(end) : end
  }

  end(): string {
    return ''
  }

  other(): number {
    return ODD
  }
}

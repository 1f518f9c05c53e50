/** What two shapes differ by: of a request, what is taken no more; of an answer, what readers did not expect. */
import { isOfKinds, type ObjectShape, type Shape } from './schema-shapes.ts'

export interface Change {
  /** `POST /chat/completions body.messages[].content`. */
  readonly place: string
  readonly text: string
  /** It breaks a caller of the earlier version. */
  readonly isBreak: boolean
}

type Way = 'request' | 'answer'
/** Of the earlier version, and of the later one. */
type Both<T> = readonly [before: T, after: T]

const ANYTHING: Shape = { kinds: ['any'] }

export class ShapeChanges {
  readonly found: Change[] = []
  readonly #before: readonly Shape[]
  readonly #after: readonly Shape[]
  /** Pairs that were compared: a shape that stands in many places is reported at the first. */
  readonly #seen: Set<string>

  constructor(before: readonly Shape[], after: readonly Shape[], seen: ReadonlySet<string> = new Set()) {
    this.#before = before
    this.#after = after
    this.#seen = new Set(seen)
  }

  tell(place: string, text: string, isBreak: boolean): void {
    this.found.push({ place, text, isBreak })
  }

  /** @param pair numbers of the two shapes */
  compare(place: string, pair: Both<number>, way: Way): void {
    const name = `${pair.join(' ')} ${way}`
    if (this.#seen.has(name)) return
    this.#seen.add(name)
    const [one, other] = [this.#before[pair[0]] ?? ANYTHING, this.#after[pair[1]] ?? ANYTHING]
    this.#kinds(place, [one, other], way)
    this.#values(place, [one, other])
    this.#objects(place, [one.objects ?? [], other.objects ?? []], way)
    if (one.entries !== undefined && other.entries !== undefined)
      this.compare(`${place}[]`, [one.entries, other.entries], way)
  }

  #kinds(place: string, [one, other]: Both<Shape>, way: Way): void {
    const has = ({ kinds }: Shape, kind: string): boolean =>
      kinds.includes('any') || kinds.includes(kind) || (kind === 'integer' && kinds.includes('number'))
    const gone = one.kinds.filter((kind) => !has(other, kind))
    if (way === 'request') for (const kind of gone) this.tell(place, `takes no \`${kind}\` any more`, true)
    for (const kind of other.kinds.filter((name) => !has(one, name)))
      // Readers of a list of values reckon with values that are not listed.
      this.tell(place, `may be \`${kind}\` now`, way === 'answer' && !hasValuesOf(one, kind))
  }

  #values(place: string, [one, other]: Both<Shape>): void {
    for (const value of one.values ?? [])
      if (other.values?.includes(value) !== true && !isOfKinds(value, other.kinds))
        this.tell(place, `the value \`${value}\` is gone`, true)
    for (const value of other.values ?? [])
      if (one.values?.includes(value) !== true && !isOfKinds(value, one.kinds))
        this.tell(place, `the value \`${value}\` is new`, false)
  }

  #objects(place: string, [before, after]: Both<readonly ObjectShape[]>, way: Way): void {
    const met = new Set<ObjectShape>()
    for (const one of before) {
      const same = after.find(({ when }) => when === one.when) ?? this.#nearest(one, after, way)
      // Where objects are taken no more, the kinds have reported it.
      if (same === undefined) continue
      met.add(same)
      this.#members(`${place}${one.when === undefined ? '' : `(${one.when})`}`, [one, same], way)
    }
    for (const { when } of after.filter((one) => !met.has(one)))
      if (before.length > 0) this.tell(place, `a new form: ${when ?? 'an object'}`, false)
  }

  /** That which differs by the fewest breaks. */
  #nearest(one: ObjectShape, after: readonly ObjectShape[], way: Way): ObjectShape | undefined {
    const ranked = after.map((other) => {
      const trial = new ShapeChanges(this.#before, this.#after, this.#seen)
      trial.#members('', [one, other], way)
      return { other, breaks: trial.found.filter(({ isBreak }) => isBreak).length }
    })
    return ranked.sort((a, b) => a.breaks - b.breaks)[0]?.other
  }

  #members(place: string, [one, other]: Both<ObjectShape>, way: Way): void {
    for (const [name, shape] of Object.entries(one.members)) {
      const at = `${place}.${name}`
      const now = other.members[name]
      if (now === undefined) {
        this.tell(at, 'the member is gone', true)
        continue
      }
      const [was, is] = [one.always.includes(name), other.always.includes(name)]
      if (way === 'request' && is && !was) this.tell(at, 'the member is required now', true)
      if (way === 'answer' && was && !is) this.tell(at, 'the member may be missing now', true)
      this.compare(at, [shape, now], way)
    }
    for (const name of Object.keys(other.members).filter((added) => !(added in one.members))) {
      const isNeeded = way === 'request' && other.always.includes(name)
      this.tell(`${place}.${name}`, isNeeded ? 'a new member, and required' : 'a new member', isNeeded)
    }
    this.#others(place, [one, other], way)
  }

  #others(place: string, [one, other]: Both<ObjectShape>, way: Way): void {
    if (way === 'request' && other.isClosed && !one.isClosed)
      this.tell(place, 'other members are refused now', true)
    if (one.others !== undefined && other.others !== undefined)
      this.compare(`${place}.*`, [one.others, other.others], way)
  }
}

/** Whether it lists values of the kind. */
function hasValuesOf({ values = [] }: Shape, kind: string): boolean {
  return values.some((value) => isOfKinds(value, [kind]))
}

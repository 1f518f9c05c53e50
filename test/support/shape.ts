/** Hidden classes, as V8 has them: an object of a class that no earlier one had is made and read slowly. */
import { setFlagsFromString } from 'node:v8'

setFlagsFromString('--allow-natives-syntax')
const haveSameMap = new Function('one', 'other', 'return %HaveSameMap(one, other)') as (
  one: object,
  other: object,
) => boolean

/** Objects that are made before two are compared: the first ones still widen the kinds of their members. */
const EARLIER = 8

/** Whether two objects that are made one after the other have one hidden class. */
export function isOneShape(make: () => object): boolean {
  for (let nth = 0; nth < EARLIER; nth++) make()
  return haveSameMap(make(), make())
}

/** What two versions of the API differ by, and which of that breaks a caller of the earlier one. */
import type { ApiShape, Contents, OperationShape } from './api-shape.ts'
import { ShapeChanges, type Change } from './shape-changes.ts'

export type { Change }

/** Changes in the order of the operations, those of the earlier version first. */
export function apiChanges(before: ApiShape, after: ApiShape): readonly Change[] {
  const changes = new ShapeChanges(before.shapes, after.shapes)
  for (const [name, one] of Object.entries(before.operations)) {
    const other = after.operations[name]
    if (other === undefined) changes.tell(name, 'the operation is gone', true)
    else operation(changes, name, { one, other })
  }
  for (const [name, { summary }] of Object.entries(after.operations))
    if (!(name in before.operations)) changes.tell(name, `new: ${summary}`, false)
  return changes.found
}

interface Pair<T> {
  readonly one: T
  readonly other: T
}

function operation(changes: ShapeChanges, name: string, { one, other }: Pair<OperationShape>): void {
  parameters(changes, name, { one, other })
  body(changes, name, { one: one.body, other: other.body })
  for (const [status, contents] of Object.entries(one.answers)) {
    const place = `${name} ${status}`
    const now = other.answers[status]
    if (now === undefined) changes.tell(place, 'the status is gone', true)
    else types(changes, place, { one: contents, other: now }, 'answer')
  }
  for (const status of Object.keys(other.answers))
    if (!(status in one.answers)) changes.tell(`${name} ${status}`, 'a new status', false)
}

function parameters(changes: ShapeChanges, name: string, { one, other }: Pair<OperationShape>): void {
  for (const [parameter, { shape, isRequired }] of Object.entries(one.parameters)) {
    const place = `${name} ${parameter}`
    const now = other.parameters[parameter]
    if (now === undefined) {
      changes.tell(place, 'the parameter is gone', true)
      continue
    }
    if (now.isRequired && !isRequired) changes.tell(place, 'the parameter is required now', true)
    changes.compare(place, [shape, now.shape], 'request')
  }
  for (const [parameter, { isRequired }] of Object.entries(other.parameters))
    if (!(parameter in one.parameters))
      changes.tell(
        `${name} ${parameter}`,
        isRequired ? 'a new parameter, and required' : 'a new parameter',
        isRequired,
      )
}

function body(changes: ShapeChanges, name: string, { one, other }: Pair<OperationShape['body']>): void {
  const place = `${name} body`
  if (one === undefined) {
    if (other !== undefined) changes.tell(place, 'there is a body now', other.isRequired)
    return
  }
  if (other === undefined) return changes.tell(place, 'the body is gone', true)
  if (other.isRequired && !one.isRequired) changes.tell(place, 'the body is required now', true)
  types(changes, place, { one: one.contents, other: other.contents }, 'request')
}

function types(
  changes: ShapeChanges,
  place: string,
  { one, other }: Pair<Contents>,
  way: 'request' | 'answer',
): void {
  for (const [type, shape] of Object.entries(one)) {
    const now = other[type]
    if (now === undefined) changes.tell(place, `\`${type}\` is gone`, true)
    else changes.compare(place, [shape, now], way)
  }
  for (const type of Object.keys(other)) if (!(type in one)) changes.tell(place, `\`${type}\` is new`, false)
}

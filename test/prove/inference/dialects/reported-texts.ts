/** The texts of a response, each of which its provider sends several times: of each part the longest. */
import { membersOf, type Members } from '../../../../src/schemas/values/members.ts'

const DELTA = 'response.output_text.delta'
const DONE = 'response.output_text.done'
const ITEM_DONE = 'response.output_item.done'

export class ReportedTexts {
  readonly #deltas = new Map<string, string>()
  readonly #wholes = new Map<string, string>()

  event(type: string, event: Members): void {
    const { output_index: item, content_index: part = 0 } = event
    const key = `${String(item)} ${String(part)}`
    if (type === DELTA) this.#deltas.set(key, (this.#deltas.get(key) ?? '') + stringOf(event['delta']))
    if (type === DONE) this.#reported(key, event['text'])
    if (type === ITEM_DONE) this.#item(String(item), event['item'])
  }

  /** The response of the last event. */
  final(response: unknown): void {
    const { output } = membersOf(response)
    if (Array.isArray(output)) output.forEach((item: unknown, at) => this.#item(String(at), item))
  }

  get whole(): string {
    const keys = [...new Set([...this.#deltas.keys(), ...this.#wholes.keys()])].sort()
    return keys
      .map((key) => {
        const [delta, whole] = [this.#deltas.get(key) ?? '', this.#wholes.get(key) ?? '']
        return whole.length > delta.length ? whole : delta
      })
      .join('')
  }

  #item(at: string, item: unknown): void {
    const { type, content } = membersOf(item)
    if (type !== 'message' || !Array.isArray(content)) return
    content.forEach((part: unknown, nth) => this.#reported(`${at} ${nth}`, membersOf(part)['text']))
  }

  #reported(key: string, text: unknown): void {
    const reported = stringOf(text)
    if (reported.length > (this.#wholes.get(key) ?? '').length) this.#wholes.set(key, reported)
  }
}

function stringOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

import {
  SIGNATURE_FORMATS,
  type SignatureUse,
} from '../../../../schemas/inference/forms/carried-signatures.ts'
import type { WrittenPart } from '../../../ports/inference/inference.ts'
import type { ContentBlock, MessageDelta } from './message-event.ts'
import { writtenJson } from './written-json.ts'

const format = SIGNATURE_FORMATS.messages

/** The block of a message that is open, in the internal form. Blocks of other types give no parts. */
export class OpenBlock {
  readonly index: number
  readonly #block: ContentBlock
  /** The client's library takes the last, too. */
  #signature: string
  #hasArguments = false

  constructor(block: ContentBlock, index: number) {
    this.#block = block
    this.index = index
    this.#signature = block.signature ?? ''
  }

  /** Blocks mostly begin empty. */
  begin(): readonly WrittenPart[] {
    const { type, text, thinking, id, name } = this.#block
    if (type === 'text') return said('text', text)
    if (type === 'thinking') return said('reasoning', thinking)
    return type === 'tool_use' ? [{ kind: 'tool', choice: 0, id: id ?? '', name: name ?? '' }] : []
  }

  add({ text, thinking, signature, partial_json: json }: MessageDelta): readonly WrittenPart[] {
    switch (this.#block.type) {
      case 'text':
        return said('text', text)
      case 'thinking':
        this.#signature = signature ?? this.#signature
        return said('reasoning', thinking)
      case 'tool_use':
        this.#hasArguments ||= (json ?? '') !== ''
        return said('arguments', json)
      default:
        return []
    }
  }

  end(): readonly WrittenPart[] {
    const { type, data, input } = this.#block as ContentBlock & { readonly input?: unknown }
    if (type === 'thinking') return signed(this.#signature, 'reasoning')
    if (type === 'redacted_thinking') return signed(data ?? '', 'redacted')
    // An empty object is the begin of arguments that follow in fragments.
    return type === 'tool_use' && !this.#hasArguments ? said('arguments', writtenJson(input) ?? '{}') : []
  }
}

function said(
  kind: 'text' | 'reasoning' | 'arguments',
  text: string | null | undefined,
): readonly WrittenPart[] {
  return (text ?? '') === '' ? [] : [{ kind, choice: 0, text: text ?? '' }]
}

/** In the provider's own format, whatever its bytes are: it gets those back. */
function signed(data: string, of: SignatureUse): readonly WrittenPart[] {
  return data === '' ? [] : [{ kind: 'signature', choice: 0, signature: { format, data }, of }]
}

import { MESSAGES_KEPT } from '../../presets/preset-messages.ts'
import { MessagesBody } from '../messages.ts'
import { isNull } from '../provider-body.ts'
import { BESIDE_THINKING, besideThinking } from './beside-thinking.ts'
import { jsonOf, valueOf, type PresetForm } from '../../../dialects/presets/text-preset.ts'

/** What a message takes of presets. D10. */
export const MESSAGES_PRESET: PresetForm = {
  source: 'messages',
  kept: MESSAGES_KEPT.properties,
  body: MessagesBody.properties,
  empty: { messages: [] },
  // Both have the form of the answer.
  together: [['output_config', 'output_format']],
  conflicts: { names: BESIDE_THINKING, fitting: besideThinking },
  promptEdits(body, systemPrompt) {
    const system = body.last('system')
    if (system === null || isNull(body, system)) return [{ kind: 'add', name: 'system', json: systemPrompt }]
    const block = `{"type":"text","text":${systemPrompt}}`
    const own = valueOf(body, system)
    // Anthropic refuses empty texts.
    if (own === '') return [{ kind: 'set', name: 'system', json: systemPrompt }]
    if (Array.isArray(own))
      return [{ kind: 'insert', at: system.start + 1, text: own.length === 0 ? block : `${block},` }]
    // A value that comes last ends where members are added: no text can be put in there.
    const json = `[${block},{"type":"text","text":${jsonOf(body, system)}}]`
    return [{ kind: 'set', name: 'system', json }]
  },
}

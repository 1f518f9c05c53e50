// The calls of `node tools/entered.mjs`, one of each kind, and the catalogue that they need.
import { STREAM_EVENTS } from './entered-provider.mjs'

/** Milliseconds until a call is given up, such as one that waits for a timer. */
const CALL_MS_MAX = 60_000
const TEXT_MODELS = { openai: 'entered/chat', anthropic: 'entered/messages' }

/** Beside the stand's model of embeddings: a model that writes for each form of a provider. */
export function catalogueOf({ standCatalogue, mockOrigin, textOrigin }) {
  const { providers, models } = standCatalogue(mockOrigin, '0.00000002')
  const protocols = Object.entries(TEXT_MODELS)
  return {
    providers: [
      ...providers,
      ...protocols.map(([protocol]) => ({
        slug: `entered-${protocol}`,
        protocol,
        base_url: `${textOrigin}/v1`,
      })),
    ],
    models: [
      ...models,
      ...protocols.map(([protocol, id]) => ({
        id,
        name: 'Entered',
        architecture: { input_modalities: ['text'], output_modalities: ['text'] },
        context_length: 128_000,
        endpoints: [
          {
            provider: `entered-${protocol}`,
            upstream_model: 'entered',
            pricing: { prompt: '0.000001', completion: '0.000002' },
          },
        ],
      })),
    ],
  }
}

/**
 * @param marks bytes of an event with text, by the form of the caller
 * @returns each kind with its name, and its call, which resolves when the answer was read; `waits`: it needs timers
 */
export async function callsOf({ port, keys, standModel, provider, marks }) {
  const call = async (method, path, body, { key = keys.inference_key } = {}) => {
    const isForm = body instanceof FormData
    const answer = await fetch(`http://127.0.0.1:${port}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${key}`,
        ...(isForm || !body ? {} : { 'content-type': 'application/json' }),
      },
      body: isForm || !body ? body : JSON.stringify(body),
      signal: AbortSignal.timeout(CALL_MS_MAX),
    })
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`)
    return answer
  }
  const send = async (...asked) => void (await (await call(...asked)).arrayBuffer())
  const write = (form, model, more = {}) => {
    const messages = [{ role: 'user', content: 'The quick brown fox' }]
    return call('POST', form === 'chat' ? '/chat/completions' : '/messages', {
      model,
      messages,
      max_tokens: 500,
      ...more,
    })
  }
  const whole = (form, protocol) => async () =>
    void (await (await write(form, TEXT_MODELS[protocol])).arrayBuffer())
  const streamed = (form, protocol) => async () => {
    const { body } = await write(form, TEXT_MODELS[protocol], { stream: true })
    let text = ''
    const read = () => text.split(marks[form]).length - 1
    for await (const piece of body.pipeThrough(new TextDecoderStream())) {
      text += piece
      provider.next(read())
    }
    if (read() !== STREAM_EVENTS) throw new Error(`a stream of ${form} is not whole: ${text}`)
  }
  const management = { key: keys.management_key }
  const embed = (model) => () =>
    send('POST', '/embeddings', { model, input: 'The quick brown fox', encoding_format: 'float' })
  const saved = { model: standModel, messages: [{ role: 'user', content: 'Hello' }] }
  await send('POST', '/presets/entered/chat/completions', saved, management)
  return [
    { name: 'GET /model', call: () => send('GET', '/model/sluice/lexical-1') },
    {
      name: 'PUT /vault/secrets',
      call: (nth) =>
        send('PUT', '/vault/secrets/entered', { hosts: ['api.example.com'], value: `value ${nth}` }),
    },
    {
      name: 'PUT /budgets',
      // Looks again and again whether each front knows the new limit.
      waits: true,
      call: (nth) =>
        send('PUT', `/workspaces/${keys.workspace_id}/budgets/monthly`, { limit_usd: 100 + nth }, management),
    },
    { name: 'POST /embeddings, by preset', call: embed('@preset/entered') },
    { name: 'POST /embeddings, built-in model', call: embed('sluice/lexical-1') },
    { name: 'POST /chat/completions, whole', call: whole('chat', 'openai') },
    { name: 'POST /chat/completions, streamed', call: streamed('chat', 'openai') },
    { name: 'POST /messages, translated to chat, streamed', call: streamed('messages', 'openai') },
    {
      name: 'POST /videos',
      call: (nth) =>
        send('POST', '/videos', { model: 'sluice/clip-1', prompt: 'A paper boat', duration: 1, seed: nth }),
    },
    {
      name: 'POST /files',
      call: (nth) => {
        const form = new FormData()
        form.append('file', new Blob([`name,value\none,${nth}\n`], { type: 'text/csv' }), 'one.csv')
        return send('POST', '/files', form)
      },
    },
  ]
}

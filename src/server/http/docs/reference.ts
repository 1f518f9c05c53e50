/** The script of the reference: creates the forms that send calls to this node, each when it is opened. */
import { pathWith, type TriedCall } from './tried-call.ts'
import { element } from './elements.ts'

for (const place of document.querySelectorAll<HTMLDetailsElement>('details.try')) {
  place.hidden = false
  place.addEventListener(
    'toggle',
    () => place.append(tryForm(JSON.parse(place.dataset['call'] ?? '') as TriedCall)),
    { once: true },
  )
}

const SHOWN_CHARS_MAX = 100_000
/** Types of answers that are texts. */
const TEXT = /^(?:text\/|application\/(?:[\w.-]+\+)?json)/

/** The form of one call: its key, its inputs, its body, and the answer. */
function tryForm(call: TriedCall): HTMLElement {
  const key = field('Key', element('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' }))
  const inputs = call.inputs.map(({ name, value, isRequired }) => ({
    name,
    ...field(name, input(value, isRequired)),
  }))
  const body =
    call.body === null
      ? null
      : field('Body', element('textarea', { rows: '10', spellcheck: 'false' }, call.body))
  const file = call.upload === null ? null : field('File', element('input', { type: 'file', required: '' }))
  const send = element('button', { type: 'submit' }, `Send ${call.method}`)
  const status = element('p', { class: 'status', role: 'status' })
  const answer = element('pre', { tabindex: '0', hidden: '' })
  const form = element(
    'form',
    { autocomplete: 'off' },
    ...[key, ...inputs, body, file].flatMap((one) => (one === null ? [] : [one.label])),
    element('p', {}, send, ' The key is sent only to this node and is not stored.'),
    status,
    answer,
  )
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    if (call.method === 'DELETE' && !confirm('Delete it?')) return
    const values = new Map(inputs.map(({ name, control }) => [name, control.value]))
    const sent = request(call, {
      key: key.control.value,
      body: body?.control.value,
      file: file?.control.files?.[0],
    })
    void exchange(pathWith(call, values), sent, { send, status, answer })
  })
  return form
}

function input(value: string, isRequired: boolean): HTMLInputElement {
  const made = element('input', { value, autocomplete: 'off' })
  made.required = isRequired
  return made
}

function field<C extends HTMLElement>(
  name: string,
  control: C,
): { readonly label: HTMLElement; readonly control: C } {
  return { label: element('label', {}, element('span', {}, name), control), control }
}

interface Filled {
  readonly key: string
  readonly body: string | undefined
  readonly file: File | undefined
}

function request(
  { method, keyHeader, contentType, upload }: TriedCall,
  { key, body, file }: Filled,
): RequestInit {
  const headers = new Headers()
  if (key !== '') headers.set(keyHeader, keyHeader === 'Authorization' ? `Bearer ${key.trim()}` : key.trim())
  if (contentType !== null) headers.set('Content-Type', contentType)
  // Cookies of other pages on this host are not sent.
  const common: RequestInit = { method, headers, credentials: 'omit', redirect: 'manual', cache: 'no-store' }
  if (upload === null || file === undefined) return body === undefined ? common : { ...common, body }
  if (upload === 'raw') return { ...common, body: file }
  const form = new FormData()
  form.append('file', file)
  return { ...common, body: form }
}

interface Shown {
  readonly send: HTMLButtonElement
  readonly status: HTMLElement
  readonly answer: HTMLElement
}

async function exchange(path: string, sent: RequestInit, { send, status, answer }: Shown): Promise<void> {
  send.disabled = true
  status.textContent = 'Sending …'
  answer.hidden = true
  const startedAt = performance.now()
  try {
    const response = await fetch(path, sent)
    const text = await textOf(response)
    const ms = Math.round(performance.now() - startedAt)
    status.textContent = `${response.status} ${response.statusText} in ${ms} ms, request ${response.headers.get('x-request-id') ?? 'without an id'}`
    answer.textContent = text.slice(0, SHOWN_CHARS_MAX)
    answer.hidden = text === ''
  } catch (error) {
    status.textContent = `No answer: ${error instanceof Error ? error.message : String(error)}`
  }
  send.disabled = false
}

async function textOf(response: Response): Promise<string> {
  const type = response.headers.get('content-type') ?? ''
  if (!TEXT.test(type)) return type === '' ? '' : `${(await response.blob()).size} bytes of ${type}`
  const text = await response.text()
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

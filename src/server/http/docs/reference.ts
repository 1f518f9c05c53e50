/** The script of the reference: makes the forms that send calls to this node, each when it is opened. */
import { tryForm } from './try-form.ts'
import type { TriedCall } from './tried-call.ts'

for (const place of document.querySelectorAll<HTMLDetailsElement>('details.try')) {
  place.hidden = false
  place.addEventListener(
    'toggle',
    () => place.append(tryForm(JSON.parse(place.dataset['call'] ?? '') as TriedCall)),
    { once: true },
  )
}

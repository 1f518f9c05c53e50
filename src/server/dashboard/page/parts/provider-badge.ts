import { h, type ComponentChild } from 'preact'
import type { ProviderView } from '../../../../schemas/live-view.ts'
import { Badge, type Tone } from './badge.ts'

const TONES: Readonly<Record<ProviderView['state'], Tone>> = { ok: 'good', failing: 'bad', idle: 'plain' }

/** How a provider did lately; undefined: the node has not asked it since it started. */
export function ProviderBadge({ state }: { readonly state: ProviderView['state'] | undefined }): ComponentChild {
  return state === undefined ? h('span', { class: 'hint' }, 'not asked yet') : h(Badge, { text: state, tone: TONES[state] })
}

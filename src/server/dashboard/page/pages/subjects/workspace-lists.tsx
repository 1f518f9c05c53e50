import { h } from 'preact'
import type { Static } from 'typebox'
import type { AdminDeliveryShape } from '../../../../../schemas/operator/admin.ts'
import type { PresetShape } from '../../../../../schemas/presets/presets.ts'
import type { SecretPageAnswer } from '../../../../../schemas/vault/vault.ts'
import type { MemberShape } from '../../../../../schemas/workspaces/workspaces.ts'
import { hashOf } from '../../page.ts'
import { Badge } from '../../parts/badge.tsx'
import { DeliveryBadge } from '../../parts/deliveries.tsx'
import { GuideLink } from '../../parts/empty-links.tsx'
import { count, NONE, Time } from '../../parts/figures.tsx'
import { SubjectLink } from '../../parts/subject-link.tsx'
import type { ListPanelProps } from './list-panel.tsx'

/** What belongs to a workspace, as its page lists it. */
type Shown<Row> = Pick<ListPanelProps<Row>, 'title' | 'columns' | 'keyOf' | 'empty'>

export type Member = Static<typeof MemberShape>
export const MEMBERS: Shown<Member> = {
  title: 'Members',
  keyOf: ({ user_id: id }) => id,
  empty: 'The workspace has no members.',
  columns: [
    { title: 'User', isName: true, cell: ({ display_name: name, user_name: user }) => name ?? user },
    { title: 'Role', cell: ({ role }) => role },
    {
      title: 'By',
      isText: true,
      cell: ({ grants }) => [...new Set(grants.map(({ source }) => source))].join(', '),
    },
    { title: 'Since', cell: ({ created_at: at }) => <Time at={at} /> },
  ],
}

export type Preset = Static<typeof PresetShape>
export const PRESETS: Shown<Preset> = {
  title: 'Presets',
  keyOf: ({ id }) => id,
  empty: ['No presets. ', <GuideLink key="guide" page="presets" />],
  columns: [
    {
      title: 'Preset',
      isName: true,
      cell: ({ slug, workspace_id: workspace }) => (
        <a href={hashOf('presets', { workspace, preset: slug })}>{slug}</a>
      ),
    },
    {
      title: 'State',
      cell: ({ status }) => <Badge text={status} tone={status === 'active' ? 'good' : 'plain'} />,
    },
    { title: 'Changed', cell: ({ updated_at: at }) => <Time at={at} /> },
  ],
}

export type SecretRow = Static<typeof SecretPageAnswer>['data'][number]
export const SECRETS: Shown<SecretRow> = {
  title: 'Secrets',
  keyOf: ({ name }) => name,
  empty: 'No secrets.',
  columns: [
    { title: 'Name', isName: true, cell: ({ name }) => <code>{name}</code> },
    { title: 'Released to', isText: true, cell: ({ hosts }) => hosts?.join(', ') ?? 'no host' },
    { title: 'Stored', cell: ({ created_at: at }) => <Time at={at} /> },
  ],
}

/** An entry of `GET /byok`, as far as the page reads it. */
export interface ProviderKey {
  readonly id: string
  readonly provider: string
  /** Of the secret. */
  readonly name: string
  readonly label: string
}
export const PROVIDER_KEYS: Shown<ProviderKey> = {
  title: 'Provider keys',
  keyOf: ({ id }) => id,
  empty: ["No provider keys: the operator's keys are used. ", <GuideLink key="guide" page="provider-keys" />],
  columns: [
    { title: 'Provider', isName: true, cell: ({ provider }) => <SubjectLink to="provider" id={provider} /> },
    { title: 'Secret', cell: ({ name }) => <code>{name}</code> },
    { title: 'Fingerprint', cell: ({ label }) => <code>{label}</code> },
  ],
}

export type Delivery = AdminDeliveryShape
export const DELIVERIES: Shown<Delivery> = {
  title: 'Webhooks',
  keyOf: ({ id }) => id,
  empty: 'No webhooks yet.',
  columns: [
    { title: 'Receiver', isName: true, cell: ({ host }) => host },
    { title: 'State', cell: ({ state }) => <DeliveryBadge state={state} /> },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
    { title: 'Last answer', cell: ({ last_status: status }) => status ?? NONE },
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
  ],
}

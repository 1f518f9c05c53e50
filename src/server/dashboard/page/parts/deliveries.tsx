import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { AdminDeliveryShape } from '../../../../schemas/operator/admin.ts'
import type { DeliveryState, WebhookReason } from '../../../../schemas/webhooks/webhook-deliveries.ts'
import { messageOf } from '../api.ts'
import { hashOf, type PageContext } from '../page.ts'
import { Badge, type Tone } from './badge.tsx'
import type { Column } from './data-table.tsx'
import { Confirm } from './dialog.tsx'
import { count, Time } from './figures.tsx'
import { SubjectLink } from './links.tsx'

const TONES: Readonly<Record<DeliveryState, Tone>> = { waiting: 'plain', delivered: 'good', dead: 'bad' }

/** Descriptions of the errors of the last attempt. */
const REASONS: Readonly<Record<WebhookReason, string>> = {
  refused: 'the address is not allowed',
  unreachable: 'not reached',
  timeout: 'no answer in time',
  status: 'refused',
  redirect: 'the receiver redirects, and Sluice does not follow redirects',
  gone: 'address gone',
  url_disabled: 'not sent: the address returned 410 earlier',
}

export function DeliveryBadge({ state }: { readonly state: DeliveryState }): ComponentChild {
  return <Badge text={state} tone={TONES[state]} />
}

/** Columns of a table of deliveries; the name opens the delivery. */
export function deliveryColumns(
  open: (delivery: AdminDeliveryShape) => void,
  isOfOneJob = false,
): readonly Column<AdminDeliveryShape>[] {
  const job: Column<AdminDeliveryShape> = {
    title: 'Job',
    cell: ({ job_id: id }) => (
      <a class="mono" href={hashOf('jobs', { job: id })} title={id}>
        {id.slice(0, SHOWN_CHARS)}
      </a>
    ),
  }
  return [
    {
      title: 'Receiver',
      isName: true,
      cell: (delivery) => (
        <button
          type="button"
          class="link"
          aria-label={`Webhook of ${delivery.job_id} to ${delivery.host}`}
          onClick={() => open(delivery)}
        >
          {delivery.host}
        </button>
      ),
    },
    { title: 'State', cell: ({ state }) => <DeliveryBadge state={state} /> },
    { title: 'Attempts', isNumber: true, cell: ({ attempts }) => count(attempts) },
    { title: 'Last answer', isText: true, cell: lastAnswerOf },
    ...(isOfOneJob
      ? []
      : [
          job,
          {
            title: 'Workspace',
            cell: ({ workspace_slug: slug }: AdminDeliveryShape) => <SubjectLink to="workspace" id={slug} />,
          },
        ]),
    { title: 'Created', cell: ({ created_at: at }) => <Time at={at} /> },
    {
      title: 'Next attempt or end time',
      cell: ({ due_at: due, ended_at: ended }) => <Time at={due ?? ended} />,
    },
  ]
}

/** Characters that distinguish two ids at a glance. */
const SHOWN_CHARS = 18

/** In words. */
export function lastAnswerOf({
  last_status: status,
  last_reason: reason,
  state,
}: AdminDeliveryShape): string {
  const words = reason === null ? (state === 'delivered' ? 'taken' : '') : REASONS[reason]
  return status === null ? words : `${status}${words === '' ? '' : `, ${words}`}`
}

export interface Replay {
  start(delivery: AdminDeliveryShape): void
  /** A question that must be answered before sending; null: none. */
  readonly dialog: ComponentChild
}

/** Sends deliveries again: dead letters immediately, others after a confirmation. */
export function useReplay({ api, say }: PageContext, onDone: () => void): Replay {
  const [asked, setAsked] = useState<AdminDeliveryShape | null>(null)
  const run = async ({ id, host }: AdminDeliveryShape): Promise<void> => {
    await api.send('POST', ['admin', 'webhooks', id, 'replay'])
    say(`Webhook to ${host} queued for another delivery.`)
    onDone()
  }
  const start = (delivery: AdminDeliveryShape): void => {
    if (delivery.state === 'dead')
      run(delivery).catch((problem: unknown) => say(messageOf(problem), 'problem'))
    else setAsked(delivery)
  }
  const dialog =
    asked === null ? null : (
      <Confirm
        title="Send again?"
        text={`${asked.host} already accepted this webhook. The webhook is sent again with the same id.`}
        action="Send again"
        run={() => run(asked)}
        onClose={() => setAsked(null)}
      />
    )
  return { start, dialog }
}

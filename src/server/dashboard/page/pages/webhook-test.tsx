import { h, type ComponentChild } from 'preact'
import { useState } from 'preact/hooks'
import type { TestWebhookAnswer } from '../../../../schemas/webhooks/operator-webhooks.ts'
import type { PageContext } from '../page.ts'
import { Confirm } from '../parts/dialog.tsx'
import type { Workspaces } from '../parts/workspaces.ts'

interface SendTestProps {
  readonly context: PageContext
  /** Empty: the default workspace. */
  readonly workspace: string
  readonly workspaces: Workspaces
}

/** Has the node send a test event, and shows what the receiver answered. */
export function SendTest({ context: { api, say }, workspace, workspaces }: SendTestProps): ComponentChild {
  const [isAsking, setAsking] = useState(false)
  const name = workspace === '' ? 'the default workspace' : workspaces.nameOf(workspace)
  const run = async (): Promise<void> => {
    const body = workspace === '' ? {} : { workspace_id: workspace }
    const { data } = await api.send<TestWebhookAnswer>('POST', ['admin', 'webhooks', 'test'], body)
    const answered = `${data.host} answered ${data.status ?? 'nothing'} after ${data.duration_ms} ms`
    // The dialog shows it, and lets the person try again.
    if (!data.delivered) throw new Error(`Not delivered: ${answered} (${data.reason ?? ''}).`)
    say(`Delivered: ${answered}.`)
  }
  return (
    <span>
      <button type="button" onClick={() => setAsking(true)}>
        Send a test
      </button>
      {isAsking && (
        <Confirm
          title="Send a test event?"
          action="Send"
          run={run}
          onClose={() => setAsking(false)}
          text={`One signed event, webhook.test, goes to the default callback URL of ${name}.`}
        />
      )}
    </span>
  )
}

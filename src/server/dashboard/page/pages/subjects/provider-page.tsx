import { h, type ComponentChild } from 'preact'
import type { LiveView, ProviderView } from '../../../../../schemas/operator/live-view.ts'
import { useLive } from '../../live.ts'
import { hashOf, useSubject, type Page, type PageContext } from '../../page.ts'
import { Facts } from '../../parts/facts.tsx'
import { duration, figure } from '../../parts/figures.tsx'
import { Catalogue } from '../catalogue.tsx'
import { History } from '../now-history.tsx'
import { Calls } from './calls.tsx'
import { ProviderBadge } from '../../parts/badge.tsx'

export const providerPage: Page = {
  path: 'provider',
  title: 'Provider',
  letter: '',
  under: 'models',
  view: (context) => <ProviderPage {...context} />,
}

/** One provider: its state and circuit breaker, its answers and failures, and the models that it serves. */
function ProviderPage(context: PageContext): ComponentChild {
  const slug = context.query.get('id') ?? ''
  useSubject(context, slug)
  return (
    <div>
      <Health context={context} slug={slug} />
      <History context={context} of={{ by: 'provider', name: slug }} />
      <Calls context={context} search={{ provider: slug }} />
      <Catalogue context={context} provider={slug} />
    </div>
  )
}

function Health({ context, slug }: { readonly context: PageContext; readonly slug: string }): ComponentChild {
  const { latest } = useLive(context.live)
  const row = latest?.providers.find(({ provider }) => provider === slug)
  return (
    <section class="panel" aria-label="Health">
      <Facts
        facts={[
          ['State', <ProviderBadge {...(row ?? { state: undefined })} />],
          ['Open circuit breakers', row?.breaker?.endpoints.join(', ')],
          ['Attempts', row !== undefined && latest !== null && attemptsText(row, latest)],
          [
            'Spend',
            <a href={hashOf('provider', { id: slug, metric: 'cost', range: 'month' })}>
              Last 31 days, hourly
            </a>,
          ],
          ['Jobs', <a href={hashOf('jobs', { provider: slug })}>View video jobs</a>],
        ]}
      />
    </section>
  )
}

function attemptsText({ per_second: all, failed_per_second: failed }: ProviderView, look: LiveView): string {
  const span = duration(look.quantile_seconds * 1_000)
  return `${figure(all)} requests/s, ${figure(failed)}/s failed, over the last ${span}`
}

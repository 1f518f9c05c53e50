import { shortForms } from '../short.ts'

shortForms([
  'money/budget-changes',
  'money/journal',
  'money/ledger',
  'money/limits',
  'money/reach-cap',
  'money/reach-prices',
  'money/spend-limits',
  'money/spend-outage',
  'money/spend',
  'money/windows',
])

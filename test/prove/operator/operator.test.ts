import { shortForms } from '../short.ts'

shortForms([
  'operator/dashboard-cost',
  'operator/dashboard-log',
  'operator/dashboard-looks',
  'operator/retention',
])

import { shortForms } from '../short.ts'

shortForms([
  'nodes/drain-last',
  'nodes/fronts',
  'nodes/image',
  'nodes/joins',
  'nodes/nodes',
  'nodes/outage',
  'nodes/package',
  'nodes/postgres-refuses',
  'nodes/redis-refuses',
  'nodes/scale',
  'nodes/slowdown',
  'nodes/starts',
  'nodes/upgrade',
])

import { shortForms } from '../short.ts'

shortForms([
  'videos/clip',
  'videos/videos-faults',
  'videos/videos-hostile',
  'videos/videos-paused',
  'videos/videos-polling',
  'videos/videos-postgres',
  'videos/videos-twins',
  'videos/videos',
])

import { short } from '../short.ts'
import { program } from './webhooks.ts'

await short('webhooks', program)

import { program } from './videos-postgres.ts'
import { short } from '../short.ts'

await short('videos-postgres', program)

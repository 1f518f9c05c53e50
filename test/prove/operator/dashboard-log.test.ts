import { program } from './dashboard-log.ts'
import { short } from '../short.ts'

await short('dashboard-log', program)

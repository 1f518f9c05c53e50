import { program } from './dashboard-cost.ts'
import { short } from '../short.ts'

await short('dashboard-cost', program)

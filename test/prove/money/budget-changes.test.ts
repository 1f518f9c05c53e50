import { program } from './budget-changes.ts'
import { short } from '../short.ts'

await short('budget-changes', program)

import { program } from './dashboard-looks.ts'
import { short } from '../short.ts'

await short('dashboard-looks', program)
